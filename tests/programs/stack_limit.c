// A program raises the limit of its stack, as compilers and Emacs do, and then needs the room; also
// in a child, and with threads made before and after.
#include <sys/resource.h>
#include <sys/wait.h>
#include "program.h"

static int depth(int left) {
  volatile char room[1000];
  room[0] = (char)left;
  return left ? depth(left - 1) + (room[0] == (char)left) : 0;
}

static void* body(void* unused) { return unused; }

static void make_thread(void) {
  pthread_t thread;
  CHECK_EQ(pthread_create(&thread, NULL, body, NULL), 0);
  CHECK_EQ(pthread_join(thread, NULL), 0);
}

static void raise_limit(rlim_t bytes) {
  struct rlimit limit;
  CHECK_EQ(getrlimit(RLIMIT_STACK, &limit), 0);
  limit.rlim_cur = bytes;
  CHECK_EQ(setrlimit(RLIMIT_STACK, &limit), 0);
}

int main(void) {
  raise_limit(20 << 20);
  CHECK_EQ(depth(14000), 14000);
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    raise_limit(24 << 20);
    _exit(depth(18000) == 18000 ? 0 : 1);
  }
  int status;
  CHECK_EQ(waitpid(child, &status, 0), child);
  CHECK_EQ(status, 0);
  make_thread();
  CHECK_EQ(depth(15000), 15000);
  raise_limit(28 << 20);
  CHECK_EQ(depth(22000), 22000);
  puts("deep enough");
  return 0;
}
