// Workers take numbers until one is negative; the racy reader of results does not wait for them.
#include "twin.h"

static int work[10] = {1, 2, 3, 4, 5, 6, 7, 8, -1, -1}, next_one, results[10];

static void* body(void* number) {
  for (;;) {
    const int at = __atomic_fetch_add(&next_one, 1, __ATOMIC_RELAXED);
    if (work[at] < 0) return number;
    results[at] = work[at] * 2;  // RACE
  }
}

int main(void) {
  const pthread_t one = start(body, NULL), two = start(body, NULL);
  if (!RACY) join(one), join(two);
  long sum = 0;
  for (int i = 0; i < 8; ++i) sum += results[i];  // RACE
  if (RACY) join(one), join(two);
  use(sum);
  return 0;
}
