// poll, ppoll and select time out, and see the descriptors that other threads make ready.
#include <poll.h>
#include <sys/select.h>
#include "program.h"

static int ends[3][2];

static void* feeds(void* unused) {
  for (int i = 0; i < 3; ++i) {
    sleep_ms(3);
    CHECK_EQ(write(ends[i][1], "x", 1), 1);
  }
  return unused;
}

int main(void) {
  struct pollfd entries[3];
  struct timespec little = {0, 5000000};
  struct timeval short_time = {0, 5000};
  pthread_t thread;
  char byte;
  for (int i = 0; i < 3; ++i) {
    CHECK_EQ(pipe(ends[i]), 0);
    entries[i] = (struct pollfd){ends[i][0], POLLIN, 0};
  }
  CHECK_EQ(poll(entries, 3, 5), 0);
  CHECK_EQ(ppoll(entries, 3, &little, NULL), 0);
  CHECK_EQ(select(0, NULL, NULL, NULL, &short_time), 0);
  CHECK_EQ(pthread_create(&thread, NULL, feeds, NULL), 0);
  for (int seen = 0; seen < 2;) {
    CHECK(poll(entries, 2, -1) > 0);
    for (int i = 0; i < 2; ++i) {
      if (!(entries[i].revents & POLLIN)) continue;
      CHECK_EQ(read(ends[i][0], &byte, 1), 1);
      ++seen;
    }
  }
  fd_set readable;
  FD_ZERO(&readable);
  FD_SET(ends[2][0], &readable);
  CHECK_EQ(select(ends[2][0] + 1, &readable, NULL, NULL, NULL), 1);
  CHECK(FD_ISSET(ends[2][0], &readable));
  CHECK_EQ(pthread_join(thread, NULL), 0);
  CHECK_EQ(close(ends[0][1]), 0);
  CHECK_EQ(poll(entries, 1, -1), 1);
  CHECK(entries[0].revents & POLLHUP);
  puts("ready and timed out");
  return 0;
}
