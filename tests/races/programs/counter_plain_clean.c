// Two threads add to one counter, each addition under the same mutex.
#include "program.h"

long counter;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static void* body(void* unused) {
  for (int i = 0; i < 1000; ++i) {
    pthread_mutex_lock(&mutex);
    counter = counter + 1;
    pthread_mutex_unlock(&mutex);
  }
  return unused;
}

int main(void) {
  run_two(body, body);
  return counter > 0 ? 0 : 1;
}
