// Teams of a device that is the host add to a mapped variable.
#include "twin.h"

int main(void) {
  int sum = 0;
#if RACY
#pragma omp target teams distribute parallel for map(tofrom : sum) num_teams(1) thread_limit(3)
  for (int i = 0; i < 90; ++i) sum += i;  // RACE
#else
#pragma omp target teams distribute parallel for map(tofrom : sum) reduction(+ : sum) num_teams(1) thread_limit(3)
  for (int i = 0; i < 90; ++i) sum += i;
#endif
  use(sum);
  return 0;
}
