// main detaches a thread, and then takes the lock that the thread had.
#include "program.h"

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
int value;
static void* body(void* unused) {
  pthread_mutex_lock(&mutex);
  value = 1;
  pthread_mutex_unlock(&mutex);
  return unused;
}

int main(void) {
  pthread_t thread = start(body, NULL);
  pause_ms(10);
  pthread_detach(thread);
  pthread_mutex_lock(&mutex);
  value = 2;
  pthread_mutex_unlock(&mutex);
  return 0;
}
