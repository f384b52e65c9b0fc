// A signal that comes to a thread just before it begins to wait ends the wait: the handler gives
// what the thread waits for. And one to a thread that has only just been made.
#include "program.h"

enum { kRounds = 100, kThreads = 20 };

static sem_t ready, given;
static volatile sig_atomic_t handled;

static void on_signal(int signal) {
  (void)signal;
  ++handled;
  sem_post(&given);
}

static void take(void) {
  while (sem_wait(&given) == -1) CHECK_EQ(errno, EINTR);
}

static void* body(void* work) {
  for (int round = 0; round < kRounds; ++round) {
    CHECK_EQ(sem_post(&ready), 0);
    for (volatile int i = 0; i < round * 10; ++i) {}
    take();
  }
  return work;
}

static void* wait_once(void* unused) {
  take();
  return unused;
}

int main(void) {
  const struct sigaction action = {.sa_handler = on_signal};
  pthread_t thread;
  CHECK_EQ(sem_init(&ready, 0, 0), 0);
  CHECK_EQ(sem_init(&given, 0, 0), 0);
  CHECK_EQ(sigaction(SIGUSR1, &action, NULL), 0);
  CHECK_EQ(pthread_create(&thread, NULL, body, NULL), 0);
  for (int round = 0; round < kRounds; ++round) {
    while (sem_wait(&ready) == -1) CHECK_EQ(errno, EINTR);
    CHECK_EQ(pthread_kill(thread, SIGUSR1), 0);
  }
  CHECK_EQ(pthread_join(thread, NULL), 0);
  for (int i = 0; i < kThreads; ++i) {
    CHECK_EQ(pthread_create(&thread, NULL, wait_once, NULL), 0);
    CHECK_EQ(pthread_kill(thread, SIGUSR1), 0);
    CHECK_EQ(pthread_join(thread, NULL), 0);
  }
  printf("handled %d\n", (int)handled);
  return 0;
}
