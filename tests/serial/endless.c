// Two threads wait for each other for ever, in loops.
#include <pthread.h>

static volatile int one, other;

static void* waits(void* argument) {
  while (!one) {}
  other = 1;
  return argument;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, waits, NULL);
  while (!other) {}
  one = 1;
  pthread_join(thread, NULL);
  return 0;
}
