// Threads store results to an array in the frame of their creator, which looks before it joins.
#include "twin.h"

static void* body(void* result) {
  *(long*)result = 5;  // RACE
  return NULL;
}

static long gather(void) {
  long results[2] = {0, 0};
  const pthread_t one = start(body, &results[0]), two = start(body, &results[1]);
  if (!RACY) join(one), join(two);
  const long sum = results[0] + results[1];  // RACE
  if (RACY) join(one), join(two);
  return sum;
}

int main(void) {
  use(gather());
  return 0;
}
