// The lock is let go of before the last write.
#include "program.h"

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
int value;
static void* body(void* unused) {
  for (int i = 0; i < 50; ++i) {
    pthread_mutex_lock(&mutex);
    int seen = value;  // RACE
    pthread_mutex_unlock(&mutex);
    value = seen + 1;  // RACE
    use(i);
  }
  return unused;
}

int main(void) {
  run_two(body, body);
  return value == 0;
}
