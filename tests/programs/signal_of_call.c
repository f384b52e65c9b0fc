// Signals that a thread's own call raises come to that thread's handler; those that wait outlive
// execve.
#include <sys/resource.h>

#include "program.h"

static volatile sig_atomic_t count;
static pthread_t told;

static void on_signal(int signal) {
  (void)signal;
  ++count;
  told = pthread_self();
}

static void* writes(void* unused) {
  int ends[2];
  CHECK_EQ(pipe(ends), 0);
  CHECK_EQ(close(ends[0]), 0);
  count = 0;
  CHECK_EQ(write(ends[1], "x", 1), -1);
  CHECK_EQ(errno, EPIPE);
  CHECK_EQ(count, 1);
  CHECK(pthread_equal(told, pthread_self()));
  return unused;
}

static void* nothing(void* unused) { return unused; }

int main(int argc, char** argv) {
  sigset_t set;
  if (argc > 1) {
    int signal = 0;
    CHECK_EQ(sigpending(&set), 0);
    CHECK_EQ(sigismember(&set, SIGUSR1), 1);
    CHECK_EQ(sigwait(&set, &signal), 0);
    printf("%d waited\n", signal == SIGUSR1);
    return 0;
  }
  CHECK(signal(SIGPIPE, on_signal) != SIG_ERR);
  run_threads(1, writes);
  writes(NULL);
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  CHECK_EQ(pthread_sigmask(SIG_BLOCK, &set, NULL), 0);
  run_threads(1, nothing);
  CHECK_EQ(kill(getpid(), SIGUSR1), 0);
  execl("/proc/self/exe", argv[0], "again", (char*)NULL);
  return 1;
}
