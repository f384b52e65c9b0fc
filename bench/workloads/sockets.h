// Sockets on the loopback address: servers that listen and accept, clients that connect and read
// what they expect.
#ifndef WEIR_BENCH_SOCKETS_H
#define WEIR_BENCH_SOCKETS_H
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "workload.h"

static inline struct sockaddr_in loopback(int port) {
  return (struct sockaddr_in){.sin_family = AF_INET,
                              .sin_port = htons((uint16_t)port),
                              .sin_addr = {htonl(INADDR_LOOPBACK)}};
}

// Requests and answers are small and each is waited for.
static inline void send_at_once(int socket) {
  const int on = 1;
  setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

// --- servers

// `*port` 0: any, and which one is stored there.
static inline int listen_loopback(int* port) {
  struct sockaddr_in address = loopback(*port);
  socklen_t size = sizeof address;
  const int on = 1, made = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  must(made < 0 || setsockopt(made, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on), "socket");
  must(bind(made, (struct sockaddr*)&address, size) || listen(made, 512), "listening");
  must(getsockname(made, (struct sockaddr*)&address, &size), "getsockname");
  *port = ntohs(address.sin_port);
  return made;
}

struct Acceptor {
  int socket;                           // listening
  int until;                            // ends when this can be read or has ended
  int flags;                            // of the connections: 0 or SOCK_NONBLOCK
  void (*on_connection)(int accepted);  // takes it
  int other;                            // -1, or calls on_other whenever this can be read
  void (*on_other)(void);
};

static inline void accept_connections(const struct Acceptor* acceptor) {
  for (;;) {
    struct pollfd waits[] = {
        {acceptor->until, POLLIN, 0}, {acceptor->socket, POLLIN, 0}, {acceptor->other, POLLIN, 0}};
    if (poll(waits, 3, -1) < 0) {
      must(errno != EINTR, "poll");
      continue;
    }
    if (waits[0].revents) return;
    if (waits[1].revents) {
      const int accepted = accept4(acceptor->socket, NULL, NULL, acceptor->flags | SOCK_CLOEXEC);
      // Who has gone again before he was accepted is no failure.
      must(accepted < 0 && errno != EAGAIN && errno != ECONNABORTED && errno != EINTR, "accept");
      if (accepted >= 0) {
        send_at_once(accepted);
        acceptor->on_connection(accepted);
      }
    }
    if (waits[2].revents) acceptor->on_other();
  }
}

// --- clients

struct Stream {
  int socket;
  size_t first, count;  // what has been received and not yet read
  char bytes[16 << 10];
};

static inline void connect_loopback(struct Stream* stream, int port) {
  const struct sockaddr_in address = loopback(port);
  stream->first = stream->count = 0;
  stream->socket = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  must(stream->socket < 0, "socket");
  must(connect(stream->socket, (const struct sockaddr*)&address, sizeof address), "connect");
  send_at_once(stream->socket);
}

static inline void send_all(int socket, const void* bytes, size_t size) {
  for (size_t done = 0; done < size;) {
    const ssize_t part = send(socket, (const char*)bytes + done, size - done, MSG_NOSIGNAL);
    must(part <= 0, "send");
    done += (size_t)part;
  }
}

// 0: the other side has closed the connection.
static inline int stream_fill(struct Stream* stream) {
  const ssize_t part = recv(stream->socket, stream->bytes, sizeof stream->bytes, 0);
  must(part < 0, "recv");
  stream->first = 0;
  stream->count = (size_t)part;
  return part > 0;
}

static inline void stream_read(struct Stream* stream, void* bytes, size_t size) {
  for (size_t done = 0; done < size;) {
    must(!stream->count && !stream_fill(stream), "an answer, which is too short,");
    const size_t part = stream->count < size - done ? stream->count : size - done;
    memcpy((char*)bytes + done, stream->bytes + stream->first, part);
    stream->first += part;
    stream->count -= part;
    done += part;
  }
}

// A line without its end, which is CR LF.
static inline void stream_line(struct Stream* stream, char* line, size_t room) {
  for (size_t size = 0;; ++size) {
    must(size == room, "a line of an answer, which is too long,");
    stream_read(stream, line + size, 1);
    if (line[size] != '\n') continue;
    must(!size || line[size - 1] != '\r', "the end of a line");
    line[size - 1] = 0;
    return;
  }
}

// REQUIRES: the other side is to close the connection, with nothing more to say.
static inline void stream_end(struct Stream* stream) {
  must(stream->count || stream_fill(stream), "the end of a connection, which says more,");
  close(stream->socket);
}

#endif
