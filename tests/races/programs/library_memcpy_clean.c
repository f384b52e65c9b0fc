// Both memcpy calls are under the mutex.
#include "program.h"

char picture[1024];
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static void* writer(void* unused) {
  char own[1024];
  memset(own, 7, sizeof own);
  for (int i = 0; i < 50; ++i) {
    pthread_mutex_lock(&mutex);
    memcpy(picture, own, sizeof picture);
    pthread_mutex_unlock(&mutex);
    use(own[i]);
  }
  return unused;
}

static void* reader(void* unused) {
  char own[1024];
  for (int i = 0; i < 50; ++i) {
    pthread_mutex_lock(&mutex);
    memcpy(own, picture, sizeof own);
    pthread_mutex_unlock(&mutex);
    use(own[i]);
  }
  return unused;
}

int main(void) {
  run_two(writer, reader);
  return 0;
}
