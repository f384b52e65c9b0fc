// A bit of a word is the lock (lock bts); each thread of the racy program has a word of its own.
#include "twin.h"

static unsigned words[2];
static long count;

static int tried(unsigned* word, int bit) {
  unsigned char was;
  __asm__ volatile("lock btsl %2, %1; setc %0" : "=q"(was), "+m"(*word) : "r"(bit) : "memory", "cc");
  return !was;
}

static void* body(void* number) {
  const int bit = 5;
  unsigned* word = &words[RACY ? (long)number : 0];
  while (!tried(word, bit)) sched_yield();
  count++;  // RACE
  __asm__ volatile("lock btrl %1, %0" : "+m"(*word) : "r"(bit) : "memory", "cc");
  return NULL;
}

int main(void) {
  run_threads(2, body);
  use(count);
  return 0;
}
