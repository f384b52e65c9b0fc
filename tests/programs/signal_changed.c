// Threads change their priority, so that no other runs in their processes afterwards, and handle
// signals as they begin: where their frames lie, and what is in them, is the same in a replay,
// whenever the process before has ended.
#include <sys/resource.h>

#include "program.h"

enum { kThreads = 40 };

static volatile sig_atomic_t handled;

static void on_signal(int signal) { (void)signal, handled = 1; }

static void* child(void* argument) {
  CHECK_EQ(setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), 1), 0);
  return argument;
}

int main(void) {
  signal(SIGUSR1, on_signal);
  for (int i = 0; i < kThreads; ++i) {
    pthread_t id;
    CHECK_EQ(pthread_create(&id, NULL, child, NULL), 0);
    CHECK_EQ(pthread_kill(id, SIGUSR1), 0);
    CHECK_EQ(pthread_join(id, NULL), 0);
  }
  puts("handled");
  return 0;
}
