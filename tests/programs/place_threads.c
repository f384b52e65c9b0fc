// Threads compute without events. Signals come to them, one within the handler of the other, and
// page faults of their own; a flag that they wait for in a loop that counts is set. How far each
// was is in memory, and printed with an argument.
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <time.h>

enum { kThreads = 3, kSignals = 10 };

struct Worker {
  _Alignas(4096) volatile uint64_t rounds;
  volatile sig_atomic_t outer, inner, faults;
  uint64_t at_outer[kSignals], at_inner[kSignals];
  uint64_t waited;
};

static struct Worker worker[kThreads];
static volatile int stop;
static _Thread_local struct Worker* me;
static _Thread_local sigjmp_buf back;
static volatile char* closed;
static sigset_t signals;

static uint64_t work(struct Worker* w, uint64_t state, int rounds) {
  for (int i = 0; i < rounds; i++) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    w->rounds += state >> 63 | 1;
  }
  return state;
}

static void on_inner(int signal) {
  (void)signal;
  if (me->inner < kSignals) me->at_inner[me->inner] = me->rounds;
  me->inner++;
}

static void on_outer(int signal) {
  (void)signal;
  if (me->outer < kSignals) me->at_outer[me->outer] = me->rounds;
  me->outer++;
  work(me, 5, 300000);
}

static void on_fault(int signal) {
  (void)signal;
  me->faults++;
  siglongjmp(back, 1);
}

static void* body(void* number) {
  struct Worker* w = me = &worker[(long)number];
  uint64_t state = (uint64_t)(long)number;
  pthread_sigmask(SIG_UNBLOCK, &signals, NULL);
  while (w->outer < kSignals || w->inner < kSignals) {
    state = work(w, state, 100000);
    if (sigsetjmp(back, 1) == 0) closed[state >> 60] = 1;
  }
  while (!stop) w->waited++;
  return NULL;
}

static void pause_for(long microseconds) {
  const struct timespec time = {0, microseconds * 1000};
  nanosleep(&time, NULL);
}

int main(int argc, char** argv) {
  (void)argv;
  const struct sigaction outer = {.sa_handler = on_outer}, inner = {.sa_handler = on_inner},
                         fault = {.sa_handler = on_fault};
  pthread_t thread[kThreads];
  sigemptyset(&signals);
  sigaddset(&signals, SIGUSR1);
  sigaddset(&signals, SIGUSR2);
  pthread_sigmask(SIG_BLOCK, &signals, NULL);
  sigaction(SIGUSR1, &outer, NULL);
  sigaction(SIGUSR2, &inner, NULL);
  sigaction(SIGSEGV, &fault, NULL);
  closed = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  for (long i = 0; i < kThreads; i++) pthread_create(&thread[i], NULL, body, (void*)i);
  for (int done = 0; done < kThreads;) {
    done = 0;
    for (int i = 0; i < kThreads; i++) {
      const int outer_left = worker[i].outer < kSignals, inner_left = worker[i].inner < kSignals;
      if (outer_left) pthread_kill(thread[i], SIGUSR1);
      pause_for(300);
      if (inner_left) pthread_kill(thread[i], SIGUSR2);
      done += !outer_left && !inner_left;
    }
  }
  pause_for(2000);
  stop = 1;
  for (int i = 0; i < kThreads; i++) pthread_join(thread[i], NULL);
  for (int i = 0; i < kThreads && argc > 1; i++) {
    struct Worker* w = &worker[i];
    printf("%d: faults %d waited %llu\n", i, w->faults > 0, (unsigned long long)w->waited);
    for (int k = 0; k < kSignals; k++)
      printf(" %llu/%llu", (unsigned long long)w->at_outer[k], (unsigned long long)w->at_inner[k]);
    puts("");
  }
  puts("all ended");
  return 0;
}
