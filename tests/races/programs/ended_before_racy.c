// The second thread begins when the first has ended, long after a thousand additions. Nothing
// orders the two: that one is over is nothing that the other waits for.
#include <unistd.h>

#include "program.h"

long counter;
static void* body(void* unused) {
  for (int i = 0; i < 3000; ++i) {
    counter = counter + 1;  // RACE
  }
  return unused;
}

int main(void) {
  pthread_t first, second;
  pthread_create(&first, NULL, body, NULL);
  usleep(200000);
  pthread_create(&second, NULL, body, NULL);
  pthread_join(first, NULL);
  pthread_join(second, NULL);
  return counter > 0 ? 0 : 1;
}
