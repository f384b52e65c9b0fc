// The join loop forgets the last of four threads.
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
  pthread_t threads[4];
  for (int i = 0; i < 4; ++i) threads[i] = start(body, NULL);
  for (int i = 0; i < (RACY ? 3 : 4); ++i) join(threads[i]);
  use(data);  // RACE
  return 0;
}
