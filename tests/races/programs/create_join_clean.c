// main writes before it starts the thread, and again after it has joined it.
#include "program.h"

int value;
static void* body(void* unused) {
  use(value);
  return unused;
}

int main(void) {
  value = 1;
  pthread_t thread = start(body, NULL);
  join(thread);
  value = 3;
  return 0;
}
