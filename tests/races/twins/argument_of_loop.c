// Each thread gets the address of the loop's own variable, or of a copy.
#include "twin.h"

static long copies[4];

static void* body(void* argument) {
  use(*(long*)argument);  // RACE
  return NULL;
}

int main(void) {
  pthread_t threads[3];
  long number;
  for (number = 0; number < 3; ++number) {  // RACE
    copies[number] = number;
    threads[number] = start(body, RACY ? &number : &copies[number]);
  }
  for (int i = 0; i < 3; ++i) join(threads[i]);
  return 0;
}
