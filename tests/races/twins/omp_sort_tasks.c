// A sort whose parts are tasks; the racy parts overlap by the middle one.
#include "twin.h"

static int numbers[64];

static void sort(int first, int last) {
  if (first >= last) return;
  const int middle = numbers[(first + last) / 2];
  int i = first, j = last;
  while (i <= j) {
    while (numbers[i] < middle) i++;  // RACE
    while (numbers[j] > middle) j--;
    if (i > j) break;
    const int one = numbers[i];
    numbers[i++] = numbers[j];  // RACE
    numbers[j--] = one;         // RACE
  }
  const int over = RACY && last - first > 8 ? 1 : 0;
#pragma omp task
  sort(first, j + over);
#pragma omp task
  sort(i - over, last);
#pragma omp taskwait
}

int main(void) {
  for (int i = 0; i < 64; ++i) numbers[i] = i * 37 % 64;
#pragma omp parallel num_threads(3)
#pragma omp single
  sort(0, 63);
  use(numbers[5]);
  return 0;
}
