// A context is begun by one thread and gone on with by another, with a lock between, or too early.
#include "twin.h"

#include <ucontext.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static ucontext_t inside, outside[2];
static char stack[65536];
static int steps, ready, who;

static void run(void) {
  for (;;) {
    steps += 1;
    swapcontext(&inside, &outside[who]);
  }
}

static void* body(void* number) {
  const int me = (int)(long)number;
  pthread_mutex_lock(&mutex);
  while (me && !ready) {
    pthread_mutex_unlock(&mutex);
    pause_ms(1);
    pthread_mutex_lock(&mutex);
  }
  who = me;
  swapcontext(&outside[me], &inside);
  ready = 1;
  pthread_mutex_unlock(&mutex);
  pause_ms(RACY ? 5 * me : 0);
  if (RACY) steps += 1;  // RACE
  return NULL;
}

int main(void) {
  getcontext(&inside);
  inside.uc_stack.ss_sp = stack;
  inside.uc_stack.ss_size = sizeof stack;
  makecontext(&inside, run, 0);
  run_threads(2, body);
  use(steps);
  return 0;
}
