// A signal for who waits for a mutex that inherits priority: the handler runs, with or without
// SA_RESTART, and the wait goes on behind it, while the owner has yet to give the mutex back.
#include "program.h"

enum { kRounds = 6, kSignals = 3 };
static pthread_mutex_t mutex;
static pthread_t waiter;
static volatile sig_atomic_t handled;
static int is_held, is_asked, shared;

static void on_signal(int signal) { handled += signal == SIGUSR1; }

static void* owner(void* unused) {
  for (int round = 0; round < kRounds; round++) {
    CHECK_EQ(pthread_mutex_lock(&mutex), 0);
    __atomic_store_n(&is_held, 1, __ATOMIC_SEQ_CST);
    while (!__atomic_load_n(&is_asked, __ATOMIC_SEQ_CST)) sched_yield();
    for (int i = 0; i < kSignals; i++) {
      CHECK_EQ(pthread_kill(waiter, SIGUSR1), 0);
      sched_yield();
    }
    shared++;
    __atomic_store_n(&is_held, 0, __ATOMIC_SEQ_CST);
    CHECK_EQ(pthread_mutex_unlock(&mutex), 0);
    while (__atomic_load_n(&is_asked, __ATOMIC_SEQ_CST)) sched_yield();
  }
  return unused;
}

int main(void) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
  CHECK_EQ(pthread_mutex_init(&mutex, &attributes), 0);
  waiter = pthread_self();
  pthread_t thread;
  pthread_create(&thread, NULL, owner, NULL);
  for (int round = 0; round < kRounds; round++) {
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = round % 2 ? SA_RESTART : 0};
    CHECK_EQ(sigaction(SIGUSR1, &action, NULL), 0);
    while (!__atomic_load_n(&is_held, __ATOMIC_SEQ_CST)) sched_yield();
    __atomic_store_n(&is_asked, 1, __ATOMIC_SEQ_CST);
    CHECK_EQ(pthread_mutex_lock(&mutex), 0);
    CHECK_EQ(shared, round + 1);
    CHECK_EQ(pthread_mutex_unlock(&mutex), 0);
    __atomic_store_n(&is_asked, 0, __ATOMIC_SEQ_CST);
  }
  pthread_join(thread, NULL);
  printf("rounds %d, %s\n", kRounds, handled > 0 ? "signals were handled" : "no signal");
  return 0;
}
