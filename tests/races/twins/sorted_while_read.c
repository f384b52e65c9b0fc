// One thread sorts an array by qsort, another one looks an element up.
#include "twin.h"

static int numbers[32];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static int compare(const void* first, const void* second) {
  return *(const int*)first - *(const int*)second;  // RACE
}

static void* sort(void* unused) {
  guard(&mutex);
  qsort(numbers, 32, sizeof numbers[0], compare);  // RACE
  unguard(&mutex);
  return unused;
}

static void* look(void* unused) {
  guard(&mutex);
  numbers[9] = 4;  // RACE
  unguard(&mutex);
  return unused;
}

int main(void) {
  for (int i = 0; i < 32; ++i) numbers[i] = 77 * i % 32;
  run_two(sort, look);
  return 0;
}
