// qsort orders a copy, made before the threads began.
#include "program.h"

int numbers[100], copy[100];
static int compare(const void* one, const void* two) { return *(const int*)one - *(const int*)two; }

static void* sorter(void* unused) {
  qsort(copy, 100, sizeof(int), compare);
  return unused;
}

static void* reader(void* unused) {
  for (int i = 0; i < 100; ++i) use(numbers[i]);
  return unused;
}

int main(void) {
  for (int i = 0; i < 100; ++i) copy[i] = numbers[i] = (i * 37) % 101;
  run_two(sorter, reader);
  return copy[0] < 0;
}
