// A recursive mutex is unlocked once too often before the last write.
#include "program.h"

pthread_mutex_t mutex;
int depth;
static void* body(void* unused) {
  for (int i = 0; i < 50; ++i) {
    pthread_mutex_lock(&mutex);
    pthread_mutex_lock(&mutex);
    ++depth;  // RACE
    pthread_mutex_unlock(&mutex);
    pthread_mutex_unlock(&mutex);
    --depth;  // RACE
    use(i);
  }
  return unused;
}

int main(void) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutex_init(&mutex, &attributes);
  run_two(body, body);
  return 0;
}
