// Neighbours are exchanged in odd and even phases, with a barrier between them, or without.
#include "twin.h"

enum { kNumbers = 16 };
static int numbers[kNumbers];
static pthread_barrier_t barrier;

static void* body(void* number) {
  const int half = kNumbers / 2 * (int)(long)number;
  for (int phase = 0; phase < 6; ++phase) {
    for (int i = half + phase % 2; i < half + kNumbers / 2 && i + 1 < kNumbers; i += 2) {
      if (numbers[i] <= numbers[i + 1]) continue;  // RACE
      const int one = numbers[i];
      numbers[i] = numbers[i + 1];  // RACE
      numbers[i + 1] = one;         // RACE
    }
    if (!RACY) pthread_barrier_wait(&barrier);
  }
  return NULL;
}

int main(void) {
  for (int i = 0; i < kNumbers; ++i) numbers[i] = kNumbers - i;
  pthread_barrier_init(&barrier, NULL, 2);
  run_threads(2, body);
  use(numbers[7]);
  return 0;
}
