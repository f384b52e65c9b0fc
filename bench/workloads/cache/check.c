// What the commands answer, one after another; requests come on two connections by turns, so two
// workers have to know of each other what they have done.
#include "../processes.h"
#include "../random.h"
#include "../sockets.h"
#include "ycsb.h"

enum { kLarge = 60 << 10, kMaxAnswer = 512, kPressure = 20, kAskedFor = 80 };
static int g_port;

void converse(struct Stream* stream, const char* request, const char* answer) {
  char found[kMaxAnswer];
  const size_t size = strlen(answer);
  must(size >= sizeof found, "an expected answer, which is too long,");
  send_all(stream->socket, request, strlen(request));
  stream_read(stream, found, size);
  found[size] = 0;
  if (strcmp(found, answer))
    fprintf(stderr, "request: %sanswer: %sexpected: %s", request, found, answer);
  must(strcmp(found, answer), "a command");
}

void check_commands(int port) {
  static const struct {
    const char *request, *answer;
  } kSteps[] = {
      {"get check\r\n", "END\r\n"},
      {"set check 7 0 5\r\nhello\r\n", "STORED\r\n"},
      {"get check\r\n", "VALUE check 7 5\r\nhello\r\nEND\r\n"},
      {"set check 8 0 0\r\n\r\n", "STORED\r\n"},
      {"get nothing check\r\n", "VALUE check 8 0\r\n\r\nEND\r\n"},
      {"delete check\r\n", "DELETED\r\n"},
      {"delete check\r\n", "NOT_FOUND\r\n"},
      {"incr check 1\r\n", "NOT_FOUND\r\n"},
      // Numbers, in place and with more digits than before.
      {"set check 0 0 1\r\n8\r\n", "STORED\r\n"},
      {"incr check 1\r\n", "9\r\n"},
      {"incr check 1\r\n", "10\r\n"},
      {"incr check 18446744073709551606\r\n", "0\r\n"},
      {"incr check five\r\n", "CLIENT_ERROR invalid numeric delta argument\r\n"},
      {"set check 0 0 2\r\n1x\r\n", "STORED\r\n"},
      {"incr check 1\r\n", "CLIENT_ERROR cannot increment or decrement non-numeric value\r\n"},
      // Several requests at once, some without an answer, several keys.
      {"set check.1 0 0 1 noreply\r\na\r\nset check.2 0 0 2\r\n\r\n\r\n", "STORED\r\n"},
      {"get check.1 check.2\r\nget check.3\r\n",
       "VALUE check.1 0 1\r\na\r\nVALUE check.2 0 2\r\n\r\n\r\nEND\r\nEND\r\n"},
      {"delete check.1 noreply\r\ndelete check.2\r\nget check.1\r\n", "DELETED\r\nEND\r\n"},
      // Time that goes by.
      {"set check 0 10 3\r\nold\r\n", "STORED\r\n"},
      {"tick 9\r\n", "OK\r\n"},
      {"get check\r\n", "VALUE check 0 3\r\nold\r\nEND\r\n"},
      {"tick 1\r\n", "OK\r\n"},
      {"get check\r\n", "END\r\n"},
      {"set check 0 -1 3\r\nold\r\n", "STORED\r\n"},
      {"delete check\r\n", "NOT_FOUND\r\n"},
      // What is wrong and does not end the connection.
      {"hello\r\n", "ERROR\r\n"},
      {"\r\n", "ERROR\r\n"},
      {"get\r\n", "ERROR\r\n"},
      {"set check 0 0\r\n", "ERROR\r\n"},
      {"get 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26\r\n",
       "CLIENT_ERROR too many keys, or too long ones\r\n"},
  };
  struct Stream streams[2];
  for (int i = 0; i < 2; ++i) connect_loopback(&streams[i], port);
  for (size_t i = 0; i < sizeof kSteps / sizeof *kSteps; ++i) {
    converse(&streams[i % 2], kSteps[i].request, kSteps[i].answer);
  }
  // A value that is too large is swallowed, and one that comes in pieces is put together.
  char* value = malloc(300 << 10);
  must(!value, "malloc");
  memset(value, 'v', 300 << 10);
  memcpy(value + (300 << 10) - 2, "\r\n", 2);
  send_all(streams[0].socket, "set check 0 0 307198\r\n", 22);
  send_all(streams[0].socket, value, 300 << 10);
  converse(&streams[0], "get check\r\n", "SERVER_ERROR object too large for cache\r\nEND\r\n");
  send_all(streams[0].socket, "set check 0 0 100000\r\n", 22);
  send_all(streams[0].socket, value, 100000);
  converse(&streams[0], "\r\n", "STORED\r\n");
  converse(&streams[1], "get check\r\n", "VALUE check 0 100000\r\n");
  char* again = malloc(100000);
  must(!again, "malloc");
  stream_read(&streams[1], again, 100000);
  must(memcmp(value, again, 100000), "a large value");
  converse(&streams[1], "", "\r\nEND\r\n");
  free(again);
  free(value);
  converse(&streams[0], "delete check\r\n", "DELETED\r\n");
  // What is wrong and ends it.
  converse(&streams[0], "set check 0 0 3\r\nlonger\r\n", "CLIENT_ERROR bad data chunk\r\n");
  stream_end(&streams[0]);
  send_all(streams[1].socket, "quit\r\n", 6);
  stream_end(&streams[1]);
}

static void set_large(struct Stream* stream, const char* key, char* value) {
  char line[64];
  send_all(stream->socket, line,
           (size_t)snprintf(line, sizeof line, "set %s 0 0 %d\r\n", key, kLarge));
  memset(value, key[strlen(key) - 1], kLarge);
  memcpy(value + kLarge, "\r\n", 2);
  send_all(stream->socket, value, kLarge + 2);
  stream_line(stream, line, sizeof line);
  must(strcmp(line, "STORED"), line);
}

static void ask_large(struct Stream* stream, const char* key) {
  char line[64];
  send_all(stream->socket, line, (size_t)snprintf(line, sizeof line, "get %s\r\n", key));
}

// Whether it is there; then it has to be whole.
static int read_large(struct Stream* stream, const char* key, char* value) {
  char line[64];
  stream_line(stream, line, sizeof line);
  if (strcmp(line, "END") == 0) return 0;
  stream_read(stream, value, kLarge);
  for (int i = 0; i < kLarge; ++i) must(value[i] != key[strlen(key) - 1], "a large value");
  converse(stream, "", "\r\nEND\r\n");
  return 1;
}

static int has_large(struct Stream* stream, const char* key, char* value) {
  ask_large(stream, key);
  return read_large(stream, key, value);
}

// A value is asked for so often that no socket takes all answers, which nobody reads at first. So
// the cache waits, and holds it while others push it out and take all memory that is free.
static void check_held(struct Stream* stream, int port, long count, char* value) {
  struct Stream late;
  char key[32];
  connect_loopback(&late, port);
  set_large(&late, "large.held", value);
  for (int i = 0; i < kAskedFor; ++i) ask_large(&late, "large.held");
  must(recv(late.socket, key, 1, MSG_PEEK) != 1,
       "recv");  // it is on its way, so the cache holds it: before, it could be pushed out
  for (long i = 0; i < count; ++i) {
    snprintf(key, sizeof key, "large.%ld", i);
    set_large(stream, key, value);
  }
  must(!read_large(&late, "large.held", value), "an answer that could be sent");
  for (int i = 1; i < kAskedFor; ++i) read_large(&late, "large.held", value);
  close(late.socket);
}

// Nobody can tell which values are there; those that are have to be whole.
static void press(long client, void* unused) {
  (void)unused;
  struct Stream stream;
  struct Random random = random_stream(0, (uint64_t)client);
  char key[32], *value = malloc(kLarge + 2);
  must(!value, "malloc");
  connect_loopback(&stream, g_port);
  for (int i = 0; i < kPressure; ++i) {
    snprintf(key, sizeof key, "large.%d", (int)random_below(&random, kPressure));
    set_large(&stream, key, value);
    snprintf(key, sizeof key, "large.%d", (int)random_below(&random, kPressure));
    has_large(&stream, key, value);
  }
  close(stream.socket);
  free(value);
}

void check_eviction(int port, long clients) {
  struct Stream stream;
  char key[32], line[128], *value = malloc(kLarge + 2);
  must(!value, "malloc");
  connect_loopback(&stream, port);
  unsigned long left = 0;
  send_all(stream.socket, "stats\r\n", 7);
  do {
    stream_line(&stream, line, sizeof line);
    sscanf(line, "STAT limit_left %lu", &left);
  } while (strcmp(line, "END"));
  // More than fit, also with a slab that is there already; one of them is looked at all the time.
  const long count = (long)(left / kLarge) + 16;
  set_large(&stream, "large.used", value);
  for (long i = 0; i < count; ++i) {
    snprintf(key, sizeof key, "large.%ld", i);
    set_large(&stream, key, value);
    must(!has_large(&stream, "large.used", value), "keeping a value that is used");
  }
  must(!has_large(&stream, key, value), "keeping the newest value");
  must(has_large(&stream, "large.0", value), "forgetting the oldest value");
  check_held(&stream, port, count, value);
  close(stream.socket);
  free(value);
  char unused[kMaxThreads];
  g_port = port;
  run_children(clients, press, 1, unused);
}
