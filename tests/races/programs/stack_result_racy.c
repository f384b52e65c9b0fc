// main reads a local that the thread writes through its address, before it joins the thread.
#include "program.h"

static void* body(void* argument) {
  long* sum = (long*)argument;
  for (int i = 0; i < 100; ++i) {
    *sum += i;  // RACE
    use(i);
  }
  return NULL;
}

int main(void) {
  long sum = 0;
  pthread_t thread = start(body, &sum);
  pause_ms(2);
  use(sum);  // RACE
  join(thread);
  return 0;
}
