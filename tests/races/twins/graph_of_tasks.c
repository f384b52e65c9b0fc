// Tasks start when their count of inputs has come to 0; the racy count of the last is one too small.
#include "twin.h"

enum { kTasks = 4 };
static int missing[kTasks] = {0, 0, 1, RACY ? 1 : 2};
static const int after[kTasks][2] = {{2, -1}, {3, -1}, {3, -1}, {-1, -1}};
static int results[kTasks], done, claimed[kTasks];

static void run(int task) {
  if (task == 1) pause_ms(20);
  long sum = task;
  if (task == 2) sum += results[0];
  if (task == 3) sum += results[1] + results[2];  // RACE
  results[task] = (int)sum;                       // RACE
  for (int i = 0; i < 2; ++i)
    if (after[task][i] >= 0) __atomic_fetch_sub(&missing[after[task][i]], 1, __ATOMIC_ACQ_REL);
  __atomic_fetch_add(&done, 1, __ATOMIC_ACQ_REL);
}

static void* body(void* number) {
  while (__atomic_load_n(&done, __ATOMIC_ACQUIRE) < kTasks) {
    for (int k = 0; k < kTasks; ++k) {
      const int i = (k + (int)(long)number) % kTasks;
      if (__atomic_load_n(&missing[i], __ATOMIC_ACQUIRE) <= 0 &&
          !__atomic_exchange_n(&claimed[i], 1, __ATOMIC_ACQ_REL))
        run(i);
    }
    sched_yield();
  }
  return NULL;
}

int main(void) {
  run_threads(3, body);
  use(results[3]);
  return 0;
}
