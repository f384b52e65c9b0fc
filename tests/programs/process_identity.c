// getpid, getppid, the process group and session are those of one process; gettid differs and
// tgkill reaches it.
#include "program.h"

static pid_t process, parent, ids[kMaxThreads];
static pthread_barrier_t barrier;
static __thread volatile sig_atomic_t hit;

static void on_signal(int number) { (void)number, hit = 1; }

static void* body(void* number) {
  CHECK_EQ(getpid(), process);
  CHECK_EQ(syscall(SYS_getpid), process);
  CHECK_EQ(getppid(), parent);
  CHECK_EQ(getpgrp(), getpgid(process));
  CHECK_EQ(getsid(0), getsid(process));
  ids[(long)number] = gettid();
  CHECK_EQ(gettid(), syscall(SYS_gettid));
  CHECK(gettid() != process);
  CHECK_EQ(syscall(SYS_tgkill, process, gettid(), SIGUSR1), 0);
  CHECK_EQ(hit, 1);
  pthread_barrier_wait(&barrier);
  return NULL;
}

int main(int argc, char** argv) {
  int threads = argument(argc, argv, 1, 4);
  struct sigaction action = {.sa_handler = on_signal};
  process = getpid();
  parent = getppid();
  CHECK_EQ(gettid(), process);
  CHECK_EQ(sigaction(SIGUSR1, &action, NULL), 0);
  CHECK_EQ(pthread_barrier_init(&barrier, NULL, (unsigned)threads), 0);
  run_threads(threads, body);
  for (int i = 0; i < threads; ++i) {
    for (int j = 0; j < i; ++j) CHECK(ids[i] != ids[j]);
  }
  CHECK_EQ(getpid(), process);
  CHECK(syscall(SYS_tgkill, process, 0x3fffffff, 0) == -1 && errno == ESRCH);
  puts("one process");
  return 0;
}
