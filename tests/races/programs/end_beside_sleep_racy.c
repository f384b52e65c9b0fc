// main returns while a thread sleeps that will write what main has written.
#include "program.h"

int value;
static void* body(void* unused) {
  pause_ms(10);
  value = 1;  // RACE
  return unused;
}

int main(void) {
  pthread_detach(start(body, NULL));
  value = 2;  // RACE
  return 0;
}
