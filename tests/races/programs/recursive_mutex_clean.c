// A recursive mutex is locked twice and unlocked twice; the write lies in between.
#include "program.h"

pthread_mutex_t mutex;
int depth;
static void* body(void* unused) {
  for (int i = 0; i < 50; ++i) {
    pthread_mutex_lock(&mutex);
    pthread_mutex_lock(&mutex);
    ++depth;
    pthread_mutex_unlock(&mutex);
    --depth;
    pthread_mutex_unlock(&mutex);
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
