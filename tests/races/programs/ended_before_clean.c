// The second thread begins when the first has ended, long after a thousand additions. Main
// has joined the first before it makes the second, which orders the two.
#include "program.h"

long counter;
static void* body(void* unused) {
  for (int i = 0; i < 3000; ++i) {
    counter = counter + 1;
  }
  return unused;
}

int main(void) {
  pthread_t first, second;
  pthread_create(&first, NULL, body, NULL);
  pthread_join(first, NULL);
  pthread_create(&second, NULL, body, NULL);
  pthread_join(second, NULL);
  return counter > 0 ? 0 : 1;
}
