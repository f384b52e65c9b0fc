// The lock is held until after the last write.
#include "program.h"

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
int value;
static void* body(void* unused) {
  for (int i = 0; i < 50; ++i) {
    pthread_mutex_lock(&mutex);
    int seen = value;
    value = seen + 1;
    pthread_mutex_unlock(&mutex);
    use(i);
  }
  return unused;
}

int main(void) {
  run_two(body, body);
  return value == 0;
}
