// The threads of a pool take indices from a plain counter, so that two may work at the same number.
#include "program.h"

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
int next, numbers[100];
static void* body(void* unused) {
  for (;;) {
    int index = next++;  // RACE
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
