// Both threads count under the mutex.
#include "program.h"

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
int counter;
static void* careful(void* unused) {
  for (int i = 0; i < 100; ++i) {
    pthread_mutex_lock(&mutex);
    counter++;
    pthread_mutex_unlock(&mutex);
  }
  return unused;
}

static void* careless(void* unused) {
  for (int i = 0; i < 100; ++i) {
    pthread_mutex_lock(&mutex);
    counter++;
    pthread_mutex_unlock(&mutex);
    use(i);
  }
  return unused;
}

int main(void) {
  run_two(careful, careless);
  return counter > 0 ? 0 : 1;
}
