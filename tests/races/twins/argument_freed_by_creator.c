// The creator reuses the argument of a thread before that has read it.
#include "twin.h"

static void* body(void* argument) {
  const int* value = argument;
  pause_ms(1);
  use(*value);  // RACE
  return NULL;
}

int main(void) {
  int argument = 1;
  pthread_t threads[3];
  for (int i = 0; i < 3; ++i) {
    int* own = malloc(sizeof *own);
    *own = i;
    argument = i;  // RACE
    threads[i] = start(body, RACY ? &argument : own);
  }
  for (int i = 0; i < 3; ++i) join(threads[i]);
  use(argument);
  return 0;
}
