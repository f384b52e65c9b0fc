// A program that would use io_uring, io_setup or userfaultfd where the kernel has them, and does
// without where it has not: threads wait by them, or by poll, for bytes from a pipe. Weir holds
// none of these calls; natively they may be there.
#include <poll.h>

#include "program.h"

enum { kThreads = 3 };
static int ends[2];

static void look(void) {
  char room[256] = {0};  // struct io_uring_params, and more
  unsigned long context = 0;
  const long ring = syscall(SYS_io_uring_setup, 4, room);
  if (ring >= 0) CHECK_EQ(close((int)ring), 0);
  else CHECK(errno == ENOSYS || errno == EPERM || errno == ENOMEM);
  if (syscall(SYS_io_setup, 4, &context) == 0) CHECK_EQ(syscall(SYS_io_destroy, context), 0);
  else CHECK(errno == ENOSYS || errno == EPERM || errno == EAGAIN);
  const long faults = syscall(SYS_userfaultfd, 1);  // of faults in program code only
  if (faults >= 0) CHECK_EQ(close((int)faults), 0);
  else CHECK(errno == ENOSYS || errno == EPERM);
  // Natively the word has another value; where it is left out libraries wait by futex.
  unsigned word = 1;
  const struct {
    unsigned long value, address;
    unsigned flags, unused;
  } wait = {0, (unsigned long)&word, 2, 0};
  CHECK_EQ(syscall(449, &wait, 1, 0, NULL, 0), -1);  // futex_waitv
  CHECK(errno == ENOSYS || errno == EAGAIN);
  CHECK_EQ(syscall(511), -1);  // a call of a kernel to come
  CHECK_EQ(errno, ENOSYS);
}

static void* body(void* unused) {
  char byte;
  struct pollfd entry = {ends[0], POLLIN, 0};
  look();
  CHECK_EQ(poll(&entry, 1, -1), 1);
  CHECK_EQ(read(ends[0], &byte, 1), 1);
  return unused;
}

int main(void) {
  pthread_t threads[kThreads];
  look();
  CHECK_EQ(pipe(ends), 0);
  for (int i = 0; i < kThreads; ++i) CHECK_EQ(pthread_create(&threads[i], NULL, body, NULL), 0);
  CHECK_EQ(write(ends[1], "abc", kThreads), kThreads);
  for (int i = 0; i < kThreads; ++i) CHECK_EQ(pthread_join(threads[i], NULL), 0);
  puts("done without");
  return 0;
}
