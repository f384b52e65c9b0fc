// The threads of a pool take indices from a counter under a mutex: each number is one thread's work.
#include "program.h"

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
int next, numbers[100];
static void* body(void* unused) {
  for (;;) {
    pthread_mutex_lock(&mutex);
    int index = next++;
    pthread_mutex_unlock(&mutex);
    if (index >= 100) return unused;
    numbers[index] += index;
    if (index % 10 == 0) usleep(50);
  }
}

int main(void) {
  pthread_t last = start(body, NULL);
  run_two(body, body);
  join(last);
  return numbers[99] < 99;
}
