// main writes after it has started the thread that reads.
#include "program.h"

int value;
static void* body(void* unused) {
  use(value);  // RACE
  return unused;
}

int main(void) {
  value = 1;
  pthread_t thread = start(body, NULL);
  value = 2;  // RACE
  join(thread);
  value = 3;
  return 0;
}
