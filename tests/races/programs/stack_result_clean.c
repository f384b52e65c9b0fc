// main reads the local only after it has joined the thread.
#include "program.h"

static void* body(void* argument) {
  long* sum = (long*)argument;
  for (int i = 0; i < 100; ++i) {
    *sum += i;
    use(i);
  }
  return NULL;
}

int main(void) {
  long sum = 0;
  pthread_t thread = start(body, &sum);
  join(thread);
  use(sum);
  return 0;
}
