// Two pointers into one array are twelve apart; an index table makes two iterations meet.
#include "twin.h"

int indices[180];
double base[2100];

int main(void) {
  for (int i = 0; i < 180; ++i) indices[i] = 10 * i + i % 3;
  if (RACY) indices[100] = indices[20] + 12;
  double *one = base, *two = base + 12;
#pragma omp parallel for num_threads(3)
  for (int i = 0; i < 180; ++i) {
    int place = indices[i];
    if (RACY || i % 2 == 0) one[place] += 1.0;  // RACE
    if (RACY || i % 2 != 0) two[place] += 3.0;  // RACE
  }
  use((long)base[50]);
  return 0;
}
