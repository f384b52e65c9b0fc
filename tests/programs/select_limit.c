/* What select and ppoll leave in their limit: nothing where it has passed, no more than was given
 * where something came. */
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "program.h"

static int ends[2];

static void* wait_for(void* unused) {
  struct timeval limit = {0, 20000};
  struct timespec raw = {0, 20000000};
  CHECK_EQ(select(0, NULL, NULL, NULL, &limit), 0);
  CHECK_EQ(limit.tv_sec, 0);
  CHECK_EQ(limit.tv_usec, 0);
  CHECK_EQ(syscall(SYS_ppoll, NULL, 0, &raw, NULL, 8), 0);
  CHECK_EQ(raw.tv_nsec, 0);
  raw.tv_nsec = 20000000;
  CHECK_EQ(syscall(SYS_pselect6, 0, NULL, NULL, NULL, &raw, NULL), 0);
  CHECK_EQ(raw.tv_nsec, 0);
  limit.tv_sec = 1000;
  fd_set set;
  FD_ZERO(&set);
  FD_SET(ends[0], &set);
  CHECK_EQ(select(ends[0] + 1, &set, NULL, NULL, &limit), 1);
  CHECK(limit.tv_sec > 900 && limit.tv_sec <= 1000);
  return unused;
}

int main(void) {
  pthread_t thread;
  CHECK_EQ(pipe(ends), 0);
  CHECK_EQ(write(ends[1], "a", 1), 1);
  wait_for(NULL);
  CHECK_EQ(pthread_create(&thread, NULL, wait_for, NULL), 0);
  wait_for(NULL);
  CHECK_EQ(pthread_join(thread, NULL), 0);
  puts("limits are right");
  return 0;
}
