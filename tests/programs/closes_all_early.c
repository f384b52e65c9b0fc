// A program closes all descriptors that it does not know, as servers do when they start, before it
// forks and makes its first thread (Erlang's erl_child_setup): Weir's own stay open.
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "program.h"

static int word = 1;

static void* add(void* unused) {
  __atomic_fetch_add(&word, 1, __ATOMIC_SEQ_CST);
  return unused;
}

static int forked(void) {
  const pid_t child = fork();
  int status = 0;
  if (child == 0) {
    word += 40;
    _exit(word);
  }
  CHECK_EQ(waitpid(child, &status, 0), child);
  return WEXITSTATUS(status);
}

int main(void) {
  syscall(SYS_close_range, 3, ~0u, 0);
  printf("child %d, word %d\n", forked(), word);
  struct rlimit most;
  CHECK_EQ(getrlimit(RLIMIT_NOFILE, &most), 0);
  const int limit = most.rlim_cur < 65536 ? (int)most.rlim_cur : 65536;
  for (int i = 3; i < limit; i++) close(i);
  dup2(0, limit - 1400);
  printf("child %d, word %d\n", forked(), word);
  pthread_t thread;
  CHECK_EQ(pthread_create(&thread, NULL, add, NULL), 0);
  CHECK_EQ(pthread_join(thread, NULL), 0);
  printf("child %d, word %d\n", forked(), word);
  return 0;
}
