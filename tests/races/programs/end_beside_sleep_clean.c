// main returns while a thread sleeps that will write what main wrote before it began.
#include "program.h"

int value;
static void* body(void* unused) {
  pause_ms(10);
  value = 1;
  return unused;
}

int main(void) {
  value = 2;
  pthread_detach(start(body, NULL));
  return 0;
}
