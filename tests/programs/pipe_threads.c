// Pipes and socket pairs between threads carry bytes whole and in order, block when full or empty,
// and end with EOF.
#include <sys/socket.h>
#include "program.h"

enum { kBytes = 300000 };
static int ends[2], sockets[2];

static void* writes(void* unused) {
  static char buffer[70000];  // More than a pipe holds, so that the write blocks.
  for (int sent = 0; sent < kBytes; sent += 60000) {
    for (int i = 0; i < 60000; ++i) buffer[i] = (char)((sent + i) * 31 >> 3);
    CHECK_EQ(write(ends[1], buffer, 60000), 60000);
  }
  CHECK_EQ(close(ends[1]), 0);
  return unused;
}

static void* echoes(void* unused) {
  char text[64];
  for (ssize_t n; (n = recv(sockets[1], text, sizeof text, 0)) > 0;) {
    text[0] ^= 0x20;
    CHECK_EQ(send(sockets[1], text, (size_t)n, 0), n);
  }
  CHECK_EQ(close(sockets[1]), 0);
  return unused;
}

int main(void) {
  pthread_t writer, echo;
  char buffer[5000], text[64];
  long total = 0;
  CHECK_EQ(pipe(ends), 0);
  CHECK_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sockets), 0);
  CHECK_EQ(pthread_create(&writer, NULL, writes, NULL), 0);
  CHECK_EQ(pthread_create(&echo, NULL, echoes, NULL), 0);
  for (ssize_t n; (n = read(ends[0], buffer, sizeof buffer)) > 0; total += n) {
    for (ssize_t i = 0; i < n; ++i) CHECK_EQ(buffer[i], (char)((total + i) * 31 >> 3));
  }
  CHECK_EQ(total, kBytes);
  for (int i = 0; i < 40; ++i) {
    int length = snprintf(text, sizeof text, "message %d", i);
    CHECK_EQ(send(sockets[0], text, (size_t)length, 0), length);
    CHECK_EQ(recv(sockets[0], text, sizeof text, 0), length);
    CHECK_EQ(text[0], 'M');
  }
  CHECK_EQ(shutdown(sockets[0], SHUT_WR), 0);
  CHECK_EQ(recv(sockets[0], text, sizeof text, 0), 0);
  CHECK_EQ(pthread_join(writer, NULL), 0);
  CHECK_EQ(pthread_join(echo, NULL), 0);
  printf("bytes %ld\n", total);
  return 0;
}
