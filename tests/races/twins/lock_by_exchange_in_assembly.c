// A spin lock of inline assembly; the racy program has two.
#include "twin.h"

static int locks[2];
static long count;

static void take(int* lock) {
  int taken = 1;
  do __asm__ volatile("xchgl %0, %1" : "+r"(taken), "+m"(*lock) : : "memory");
  while (taken && (sched_yield(), taken = 1));
}

static void give(int* lock) { __asm__ volatile("movl $0, %0" : "=m"(*lock) : : "memory"); }

static void* body(void* number) {
  int* lock = &locks[RACY ? (long)number : 0];
  for (int i = 0; i < 10; ++i) {
    take(lock);
    count += i;  // RACE
    give(lock);
  }
  return NULL;
}

int main(void) {
  run_threads(2, body);
  use(count);
  return 0;
}
