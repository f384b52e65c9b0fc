// get (of several keys), set, delete, incr and stats, with noreply; and tick SECONDS, which is not
// memcached's: it moves the clock (items.h).
//
// Values are not copied: an answer is a list of parts, some of them items, which the connection
// holds until they are sent. What is written by the connection itself lies in `text`. Commands are
// executed only while there is room for any answer, so nobody makes the server keep more than that
// by not reading.
#include "protocol.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "../workload.h"
#include "items.h"

enum {
  kReceive = 16 << 10,
  kParts = 64,
  kText = 16 << 10,
  kKeys = 24,
  kWords = kKeys + 2,
  kLine = 2048 + kKeys * kMaxKey
};
enum { kAnswerParts = 2 * kKeys + 2, kAnswerText = 1024 + kKeys * (kMaxKey + 64) };

struct Connection {
  int socket;
  struct Counts* counts;
  char* in;  // received are `received` bytes, of which `done` have been executed
  size_t room, done, received;
  size_t skip;  // bytes still to come of a value that has been refused
  int closing;
  int count, sent;  // parts, and how many of them have been sent
  size_t text_size;
  struct iovec parts[kParts];
  struct Item* held[kParts];  // NULL: the part is text
  char text[kText];
};

struct Connection* connection_open(int socket, struct Counts* counts) {
  struct Connection* connection = calloc(1, sizeof *connection);
  must(!connection, "calloc");
  connection->socket = socket;
  connection->counts = counts;
  connection->room = kReceive;
  must(!(connection->in = malloc(kReceive)), "malloc");
  return connection;
}

int connection_socket(const struct Connection* connection) { return connection->socket; }

static void forget_answers(struct Connection* connection) {
  for (int i = 0; i < connection->count; ++i) {
    if (connection->held[i]) item_release(connection->held[i]);
  }
  connection->count = connection->sent = 0;
  connection->text_size = 0;
}

void connection_close(struct Connection* connection) {
  forget_answers(connection);
  close(connection->socket);
  free(connection->in);
  free(connection);
}

// --- answers

static void add_part(struct Connection* connection, void* bytes, size_t size, struct Item* held) {
  connection->parts[connection->count] = (struct iovec){bytes, size};
  connection->held[connection->count++] = held;
}

static void __attribute__((format(printf, 2, 3)))
say(struct Connection* connection, const char* format, ...) {
  char* text = connection->text + connection->text_size;
  va_list arguments;
  va_start(arguments, format);
  const size_t size = (size_t)vsnprintf(text, kText - connection->text_size, format, arguments);
  va_end(arguments);
  connection->text_size += size;
  const int last = connection->count - 1;
  if (last >= connection->sent && !connection->held[last]) connection->parts[last].iov_len += size;
  else add_part(connection, text, size, NULL);
}

static int has_room(const struct Connection* connection) {
  return connection->count + kAnswerParts <= kParts && connection->text_size + kAnswerText <= kText;
}

// --- commands

static void get(struct Connection* connection, char** keys, int count) {
  uint64_t hits = 0;
  for (int i = 0; i < count; ++i) {
    struct Item* item = item_get(keys[i], strlen(keys[i]));
    if (!item) continue;
    ++hits;
    say(connection, "VALUE %s %u %u\r\n", keys[i], item->flags, item->value_size);
    add_part(connection, item_value(item), item->value_size + 2, item);
  }
  say(connection, "END\r\n");
  pthread_mutex_lock(&connection->counts->lock);
  connection->counts->gets += (uint64_t)count;
  connection->counts->hits += hits;
  pthread_mutex_unlock(&connection->counts->lock);
}

static void count_one(struct Connection* connection, uint64_t* count) {
  pthread_mutex_lock(&connection->counts->lock);
  ++*count;
  pthread_mutex_unlock(&connection->counts->lock);
}

static const char* set(struct Connection* connection, char** words, const char* value,
                       size_t size) {
  if (memcmp(value + size, "\r\n", 2)) {
    connection->closing = 1;  // where the next command begins is anybody's guess
    return "CLIENT_ERROR bad data chunk";
  }
  struct Item* item = item_new(words[1], strlen(words[1]), (uint32_t)strtoul(words[2], NULL, 10),
                               strtol(words[3], NULL, 10), size);
  if (!item) return "SERVER_ERROR out of memory storing object";
  memcpy(item_value(item), value, size);
  item_link(item);
  item_release(item);
  count_one(connection, &connection->counts->sets);
  return "STORED";
}

// NULL: it has answered by itself.
static const char* increase(struct Connection* connection, char** words, int noreply) {
  char* rest;
  uint64_t sum;
  const uint64_t more = strtoull(words[2], &rest, 10);
  if (*rest || *words[2] < '0' || *words[2] > '9')
    return "CLIENT_ERROR invalid numeric delta argument";
  count_one(connection, &connection->counts->adds);
  switch (item_add(words[1], strlen(words[1]), more, &sum)) {
    case kNotFound: return "NOT_FOUND";
    case kNotNumber: return "CLIENT_ERROR cannot increment or decrement non-numeric value";
    case kNoMemory: return "SERVER_ERROR out of memory storing object";
    case kAdded: break;
  }
  if (!noreply) say(connection, "%lu\r\n", sum);
  return NULL;
}

static void stats(struct Connection* connection) {
  const struct ItemStats items = items_stats();
  const struct Counts counts = all_counts();
  say(connection,
      "STAT cmd_get %lu\r\nSTAT cmd_set %lu\r\nSTAT get_hits %lu\r\nSTAT get_misses %lu\r\n",
      counts.gets, counts.sets, counts.hits, counts.gets - counts.hits);
  say(connection, "STAT cmd_delete %lu\r\nSTAT cmd_incr %lu\r\n", counts.deletes, counts.adds);
  say(connection,
      "STAT curr_items %lu\r\nSTAT bytes %lu\r\nSTAT evictions %lu\r\nSTAT reclaimed %lu\r\n",
      items.items, items.bytes, items.evictions, items.expired);
  say(connection, "STAT limit_left %lu\r\nEND\r\n", items.room);
}

// The words of a line, which it cuts up. More than kWords - 1: the rest is not looked at.
static int split(char* line, char** words) {
  int count = 0;
  for (char *state, *word = strtok_r(line, " ", &state); word && count < kWords;
       word = strtok_r(NULL, " ", &state)) {
    words[count++] = word;
  }
  return count;
}

static int is_key(const char* word) { return strlen(word) <= kMaxKey; }

// Executes the command in the first `line_size` of the `received` bytes and says how many it took:
// the line, its end, and the value if one follows. 0: more of the value has to come first.
static size_t execute(struct Connection* connection, const char* line, size_t line_size,
                      size_t received) {
  char copy[kLine + 1], *words[kWords];
  memcpy(copy, line, line_size);
  copy[line_size] = 0;
  if (line_size && copy[line_size - 1] == '\r') copy[line_size - 1] = 0;
  const int count = split(copy, words);
  const int noreply = count > 1 && strcmp(words[count - 1], "noreply") == 0;
  const int arguments = count - 1 - noreply;
  const char* name = count ? words[0] : "";
  const char* answer = "ERROR";
  size_t used = line_size + 1;
  if (strcmp(name, "get") == 0 && count > 1) {
    int keys = count - 1, good = keys <= kKeys;
    for (int i = 0; i < keys; ++i) good &= is_key(words[1 + i]);
    if (good) get(connection, words + 1, keys);
    answer = good ? NULL : "CLIENT_ERROR too many keys, or too long ones";
  } else if (strcmp(name, "set") == 0 && arguments == 4) {
    char* rest;
    const unsigned long size = strtoul(words[4], &rest, 10);
    if (*rest || *words[4] < '0' || *words[4] > '9' || !is_key(words[1])) {
      connection->closing = 1;
      answer = "CLIENT_ERROR bad command line format";
    } else if (size > kMaxValue) {
      connection->skip = size + 2;
      answer = "SERVER_ERROR object too large for cache";
    } else if (received - used < size + 2) {
      // As much room as the whole command needs, so that it is there in the end.
      if (connection->room < used + size + 2) {
        connection->room = used + size + 2;
        const size_t before = (size_t)(line - connection->in);
        memmove(connection->in, line, received);
        connection->done -= before, connection->received -= before;
        must(!(connection->in = realloc(connection->in, connection->room)), "realloc");
      }
      return 0;
    } else {
      answer = set(connection, words, line + used, size);
      used += size + 2;
    }
  } else if (strcmp(name, "delete") == 0 && arguments == 1 && is_key(words[1])) {
    answer = item_delete(words[1], strlen(words[1])) ? "DELETED" : "NOT_FOUND";
    count_one(connection, &connection->counts->deletes);
  } else if (strcmp(name, "incr") == 0 && arguments == 2 && is_key(words[1])) {
    answer = increase(connection, words, noreply);
  } else if (strcmp(name, "tick") == 0 && arguments == 1) {
    items_tick((uint32_t)strtoul(words[1], NULL, 10));
    answer = "OK";
  } else if (strcmp(name, "stats") == 0 && arguments == 0) {
    stats(connection);
    answer = NULL;
  } else if (strcmp(name, "quit") == 0) {
    connection->closing = 1;
    answer = NULL;
  }
  if (answer && (!noreply || connection->closing)) say(connection, "%s\r\n", answer);
  return used;
}

// Whether it has done anything.
static int execute_next(struct Connection* connection) {
  const char* line = connection->in + connection->done;
  const size_t received = connection->received - connection->done;
  if (connection->closing || !received) return 0;
  size_t used;
  if (connection->skip) {
    used = received < connection->skip ? received : connection->skip;
    connection->skip -= used;
  } else {
    const char* end = memchr(line, '\n', received);
    const size_t size = end ? (size_t)(end - line) : received;
    if (size > kLine) {
      connection->closing = 1;
      say(connection, "CLIENT_ERROR line too long\r\n");
      return 1;
    }
    if (!end) return 0;
    used = execute(connection, line, size, received);
  }
  connection->done += used;
  return used > 0;
}

// --- the socket

// kWaitRead: nothing is left to be sent.
static enum Wait send_answers(struct Connection* connection) {
  while (connection->sent < connection->count) {
    struct iovec* parts = connection->parts + connection->sent;
    const struct msghdr message = {.msg_iov = parts,
                                   .msg_iovlen = (size_t)(connection->count - connection->sent)};
    const ssize_t sent = sendmsg(connection->socket, &message, MSG_NOSIGNAL);
    if (sent < 0) return errno == EAGAIN ? kWaitWrite : kEnded;
    size_t left = (size_t)sent;
    for (; connection->sent < connection->count && left >= parts->iov_len;
         ++parts, ++connection->sent) {
      left -= parts->iov_len;
    }
    if (left) parts->iov_base = (char*)parts->iov_base + left, parts->iov_len -= left;
  }
  forget_answers(connection);
  return kWaitRead;
}

enum Wait connection_go(struct Connection* connection) {
  // Once around receiving: level-triggered epoll comes back if there is more.
  for (int received = 0;;) {
    const enum Wait wait = send_answers(connection);
    if (wait != kWaitRead) return wait;
    int executed = 0;
    while (has_room(connection) && execute_next(connection)) executed = 1;
    if (connection->count || executed) continue;
    if (connection->closing) return kEnded;
    if (received++) return kWaitRead;
    memmove(connection->in, connection->in + connection->done,
            connection->received - connection->done);
    connection->received -= connection->done;
    connection->done = 0;
    const ssize_t part = recv(connection->socket, connection->in + connection->received,
                              connection->room - connection->received, 0);
    if (part < 0 && errno == EAGAIN) return kWaitRead;
    if (part <= 0) return kEnded;
    connection->received += (size_t)part;
  }
}
