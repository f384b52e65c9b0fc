// Two threads sort the halves of an array, of which the first has one element too many.
#include "twin.h"

static int numbers[100];

static int compare(const void* one, const void* other) {
  return *(const int*)one - *(const int*)other;
}

static void* sort_lower(void* unused) {
  qsort(numbers, RACY ? 51 : 50, sizeof(int), compare);  // RACE
  return unused;
}

static void* sort_upper(void* unused) {
  qsort(numbers + 50, 50, sizeof(int), compare);  // RACE
  return unused;
}

int main(void) {
  for (int i = 0; i < 100; ++i) numbers[i] = (i * 37) % 101;
  run_two(sort_lower, sort_upper);
  use(numbers[50]);
  return 0;
}
