// bsearch() in an array of which another thread changes an element.
#include "twin.h"

enum { kNumbers = 32 };
static int numbers[kNumbers];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static int compare(const void* one, const void* other) {
  return *(const int*)one - *(const int*)other;  // RACE
}

static void* search(void* unused) {
  const int wanted = 2 * (kNumbers - 2);
  guard(&mutex);
  use((long)bsearch(&wanted, numbers, kNumbers, sizeof *numbers, compare));  // RACE
  unguard(&mutex);
  return unused;
}

static void* change(void* unused) {
  guard(&mutex);
  numbers[kNumbers - 2]++;  // RACE
  unguard(&mutex);
  return unused;
}

int main(void) {
  for (int i = 0; i < kNumbers; ++i) numbers[i] = 2 * i;
  run_two(search, change);
  return 0;
}
