// Each thread gets the address of an element of its own, which main leaves alone until the join.
#include "program.h"

static void* body(void* argument) {
  pause_ms(1);
  use(*(int*)argument);
  return NULL;
}

int main(void) {
  pthread_t threads[3];
  int number[3];
  for (int i = 0; i < 3; ++i) {
    number[i] = i;
    threads[i] = start(body, &number[i]);
  }
  for (int j = 0; j < 3; ++j) join(threads[j]);
  return 0;
}
