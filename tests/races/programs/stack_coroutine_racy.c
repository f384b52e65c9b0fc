// A coroutine on a stack of its own starts a thread with its local variable, and changes it as well.
#include <ucontext.h>

#include "program.h"

static ucontext_t outside, inside;
static char stack[64 << 10] __attribute__((aligned(4096)));

static void* body(void* cell) {
  pause_ms(20);
  (*(long*)cell)++;  // RACE
  return NULL;
}

static void coroutine(void) {
  long local = 0;
  pthread_t thread = start(body, &local);
  local++;  // RACE
  pause_ms(40);
  join(thread);
  use(local);
}

static void* run(void* unused) {
  getcontext(&inside);
  inside.uc_stack.ss_sp = stack;
  inside.uc_stack.ss_size = sizeof stack;
  inside.uc_link = &outside;
  makecontext(&inside, coroutine, 0);
  swapcontext(&outside, &inside);
  return unused;
}

int main(void) {
  join(start(run, NULL));
  return 0;
}
