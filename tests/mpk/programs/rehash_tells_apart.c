// options: rehash=20,domains=2
// With two domains every other hash function takes the two threads for one. While it changes, what happens again and again is found.
#define _GNU_SOURCE
#include <time.h>

#include "threads.h"
static void *use(void *argument) {
  volatile long *object = (volatile long *)argument;
  struct timespec begin, now;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  do {
    for (int i = 0; i < 1000; i++) *object = i;  // REPORT policy forbidden access OTHER made
    clock_gettime(CLOCK_MONOTONIC, &now);
  } while (now.tv_sec - begin.tv_sec < 2);
  return NULL;
}
int main(void) {
  long *object = (long *)weir_alloc(sizeof *object, WEIR_PRIVATE); /* IS made */
  *object = 0;
  if (weir_active()) alone(use, object);
  return ok();
}
