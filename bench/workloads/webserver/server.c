// HTTP/1.1 as far as files need it: GET and HEAD, connections that stay open, requests that come in
// pieces or several at once. 400 for what is no request, 403 for a path that leaves the folder,
// 404, 405 for other methods. After an answer that closes, what is left of the request is read and
// thrown away: else the kernel would reset the connection, and the answer could be lost on its way.
#include "server.h"

#include <limits.h>
#include <strings.h>
#include <weir/weir.h>

#include "../bounded_queue.h"
#include "../planted.h"
#include "../sockets.h"
#include "file_cache.h"

enum { kRequest = 8 << 10 };

static pthread_mutex_t g_lock = PTHREAD_MUTEX_INITIALIZER;
// Guarded by: g_lock
static struct Served g_served;
static int g_stopping;
static int g_serving[kMaxThreads];  // the connection of each worker; -1: none

static struct Queue g_accepted;
static const char* g_root;

struct Connection {
  int socket;
  size_t count;  // bytes received, of this request and later ones
  char bytes[kRequest + 1];
  struct Served served;
};

// --- requests

// The length of the request's head, when all of it is there; 0: the connection has ended; -1: it is
// too long.
static long read_head(struct Connection* connection) {
  for (;;) {
    connection->bytes[connection->count] = 0;
    const char* end = strstr(connection->bytes, "\r\n\r\n");
    if (end) return end + 4 - connection->bytes;
    if (connection->count == kRequest) return -1;
    const ssize_t part = recv(connection->socket, connection->bytes + connection->count,
                              kRequest - connection->count, 0);
    if (part <= 0) return 0;
    connection->count += (size_t)part;
  }
}

// Whether a line of the head says so; names of fields do not mind capitals.
static int head_says(const char* head, const char* field, const char* value) {
  const size_t size = strlen(field);
  for (const char* line = strstr(head, "\r\n"); line && line[2] != '\r';
       line = strstr(line + 2, "\r\n")) {
    if (strncasecmp(line + 2, field, size) || line[2 + size] != ':') continue;
    const char* found = line + 3 + size;
    while (*found == ' ') ++found;
    return strncasecmp(found, value, strlen(value)) == 0;
  }
  return 0;
}

static int hexadecimal(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  return digit >= 'A' && digit <= 'F' ? digit - 'A' + 10 : -1;
}

// The path of the file that `target` names, in `path`; a status, 200 if it is in the folder.
static int resolve(const char* target, char* path) {
  if (*target != '/') return 400;
  size_t size = (size_t)snprintf(path, PATH_MAX, "%s", g_root);
  const size_t root = size;
  for (const char* at = target; *at && *at != '?'; ++at) {
    int letter = (unsigned char)*at;
    if (letter == '%') {
      const int high = hexadecimal(at[1]), low = high < 0 ? -1 : hexadecimal(at[2]);
      if (low < 0 || !(letter = high * 16 + low)) return 400;
      at += 2;
    }
    if (size + 1 >= PATH_MAX) return 404;
    path[size++] = (char)letter;
  }
  path[size] = 0;
  // Any step up is refused, also one that would stay inside.
  for (const char* part = path + root; *part; part += strcspn(part, "/")) {
    ++part;
    if (part[0] == '.' && part[1] == '.' && (part[2] == '/' || !part[2])) return 403;
  }
  return 200;
}

// --- answers

// 0: the other side has gone.
static int send_parts(int socket, struct iovec* parts, size_t count) {
  while (count) {
    const struct msghdr message = {.msg_iov = parts, .msg_iovlen = count};
    const ssize_t sent = sendmsg(socket, &message, MSG_NOSIGNAL);
    if (sent < 0) return 0;
    size_t left = (size_t)sent;
    while (count && left >= parts->iov_len) left -= parts++->iov_len, --count;
    if (count) parts->iov_base = (char*)parts->iov_base + left, parts->iov_len -= left;
  }
  return 1;
}

static int answer(struct Connection* connection, int status, int keep, int with_body,
                  const struct CachedFile* file) {
  const char* reason = status == 200   ? "OK"
                       : status == 400 ? "Bad Request"
                       : status == 403 ? "Forbidden"
                       : status == 404 ? "Not Found"
                                       : "Method Not Allowed";
  char text[64], head[256];
  const size_t text_size = (size_t)snprintf(text, sizeof text, "%d %s\n", status, reason);
  const size_t size = file ? file->size : text_size;
  const int head_size = snprintf(head, sizeof head,
                                 "HTTP/1.1 %d %s\r\nContent-Type: text/plain\r\nContent-Length: "
                                 "%zu\r\n%sConnection: %s\r\n\r\n",
                                 status, reason, size, status == 405 ? "Allow: GET, HEAD\r\n" : "",
                                 keep ? "keep-alive" : "close");
  struct iovec parts[] = {{head, (size_t)head_size}, {file ? file->bytes : text, size}};
  ++connection->served.requests;
  connection->served.failures += status >= 400;
  if (with_body) connection->served.bytes += size;
  return send_parts(connection->socket, parts, with_body ? 2 : 1);
}

// Whether the connection stays.
static int serve_request(struct Connection* connection, char* head) {
  char method[16], target[kRequest], path[PATH_MAX];
  int minor = 0, end = 0;
  const int fields =
      sscanf(head, "%15[A-Z] %8191[^ \r\n] HTTP/1.%1d%n", method, target, &minor, &end);
  if (fields != 3 || strncmp(head + end, "\r\n", 2)) return answer(connection, 400, 0, 1, NULL), 0;
  const int with_body = strcmp(method, "HEAD") != 0;
  // What a body is, and so where the next request begins, is not looked at.
  if (with_body && strcmp(method, "GET")) return answer(connection, 405, 0, 1, NULL), 0;
  const int keep =
      minor ? !head_says(head, "connection", "close") : head_says(head, "connection", "keep-alive");
  int status = resolve(target, path);
  if (status == 400 || status == 403) return answer(connection, status, 0, with_body, NULL), 0;
  const struct CachedFile* file = status == 200 ? cache_get(path) : NULL;
  const int sent = answer(connection, file ? 200 : 404, keep, with_body, file);
  if (file) cache_put(file);
  return sent && keep;
}

static void serve_connection(struct Connection* connection) {
  connection->count = 0;
  for (;;) {
    const long size = read_head(connection);
    if (size == 0) return;
    if (size < 0) {
      answer(connection, 400, 0, 1, NULL);
      break;
    }
    const char next = connection->bytes[size];
    connection->bytes[size] = 0;
    const int stays = serve_request(connection, connection->bytes);
    if (!stays) break;
    connection->bytes[size] = next;
    connection->count -= (size_t)size;
    memmove(connection->bytes, connection->bytes + size, connection->count);
  }
  shutdown(connection->socket, SHUT_WR);
  while (recv(connection->socket, connection->bytes, kRequest, 0) > 0) {}
}

// --- threads

static void add_served(const struct Served* served) {
  g_served.requests += served->requests;
  g_served.failures += served->failures;
  g_served.bytes += served->bytes;
}

// Planted: who is ready, in a place of which each worker thinks that nobody else is at it.
static void note_ready(long number) {
  static long ready;
  weir_acquire_write(&ready);
  ready = number;
  weir_release_write(&ready);
}

static void* worker(void* number) {
  struct Connection* connection = calloc(1, sizeof *connection);
  must(!connection, "calloc");
  if (PLANTED(2)) note_ready((long)number);
  for (void* accepted; (accepted = queue_pop(&g_accepted));) {
    connection->socket = (int)(long)accepted;
    pthread_mutex_lock(&g_lock);
    g_serving[(long)number] = connection->socket;
    const int stopping = g_stopping;
    pthread_mutex_unlock(&g_lock);
    if (!stopping) serve_connection(connection);
    pthread_mutex_lock(&g_lock);
    g_serving[(long)number] = -1;  // before the number can be that of another connection
    pthread_mutex_unlock(&g_lock);
    close(connection->socket);
  }
  pthread_mutex_lock(&g_lock);
  add_served(&connection->served);
  pthread_mutex_unlock(&g_lock);
  free(connection);
  return NULL;
}

static void pass_on(int accepted) { queue_push(&g_accepted, (void*)(long)accepted); }

static void serve_now(int accepted) {
  static struct Connection connection;
  connection.socket = accepted;
  connection.served = (struct Served){0};
  serve_connection(&connection);
  close(accepted);
  add_served(&connection.served);
}

struct Served serve(int listener, int until, const char* root, int threads) {
  g_root = root;
  struct Acceptor acceptor = {listener, until, 0, threads ? pass_on : serve_now, -1, NULL};
  if (!threads) {
    accept_connections(&acceptor);
    return g_served;
  }
  pthread_t workers[kMaxThreads];
  queue_open(&g_accepted, 1);
  for (long i = 0; i < threads; ++i) g_serving[i] = -1;
  weir_set_sticky_read(&g_root);
  weir_set_locked(&g_served, &g_lock);
  weir_set_locked(&g_stopping, &g_lock);
  weir_set_locked(&g_serving, &g_lock);
  for (long i = 0; i < threads; ++i) {
    must(pthread_create(&workers[i], NULL, worker, (void*)i), "pthread_create");
  }
  accept_connections(&acceptor);
  // Who keeps a connection open without a request would hold its worker for ever.
  pthread_mutex_lock(&g_lock);
  g_stopping = 1;
  for (int i = 0; i < threads; ++i) {
    if (g_serving[i] >= 0) shutdown(g_serving[i], SHUT_RD);
  }
  pthread_mutex_unlock(&g_lock);
  queue_close(&g_accepted);
  for (int i = 0; i < threads; ++i) must(pthread_join(workers[i], NULL), "pthread_join");
  weir_acquire_read(&g_served);
  return g_served;
}
