// main detaches a thread that may have ended, which orders nothing, and then writes what the thread wrote.
#include "program.h"

int value;
static void* body(void* unused) {
  value = 1;  // RACE
  return unused;
}

int main(void) {
  pthread_t thread = start(body, NULL);
  pause_ms(10);
  pthread_detach(thread);
  value = 2;  // RACE
  return 0;
}
