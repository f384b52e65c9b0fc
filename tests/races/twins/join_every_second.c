// The join loop leaves out every second of six threads.
#include "twin.h"

int data;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* body(void* unused) {
  pthread_mutex_lock(&mutex);
  data++;  // RACE
  pthread_mutex_unlock(&mutex);
  return unused;
}

int main(void) {
  pthread_t threads[6];
  for (int i = 0; i < 6; ++i) threads[i] = start(body, NULL);
  for (int i = 0; i < 6; i += RACY ? 2 : 1) join(threads[i]);
  data = 0;  // RACE
  return 0;
}
