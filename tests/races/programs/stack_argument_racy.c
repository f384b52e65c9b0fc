// main passes the address of its loop variable to a thread and changes the variable while the thread reads it.
#include "program.h"

static void* body(void* argument) {
  pause_ms(1);
  use(*(int*)argument);  // RACE
  return NULL;
}

int main(void) {
  pthread_t threads[3];
  int i;
  for (i = 0; i < 3; ++i) {  // RACE
    threads[i] = start(body, &i);
  }
  for (int j = 0; j < 3; ++j) join(threads[j]);
  return 0;
}
