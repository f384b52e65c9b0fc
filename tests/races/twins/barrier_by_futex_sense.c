// A barrier of a count and a sense that sleeps by a futex; the racy threads do not wait.
#include <linux/futex.h>
#include <stdatomic.h>
#include <sys/syscall.h>

#include "twin.h"

static atomic_int arrived, sense;
static int parts[3];

static void wait_all(void) {
  const int before = atomic_load(&sense);
  if (atomic_fetch_add(&arrived, 1) == 2) {
    atomic_store(&arrived, 0);
    atomic_fetch_add(&sense, 1);
    syscall(SYS_futex, &sense, FUTEX_WAKE_PRIVATE, 3, NULL, NULL, 0);
  } else {
    while (!RACY && atomic_load(&sense) == before)
      syscall(SYS_futex, &sense, FUTEX_WAIT_PRIVATE, before, NULL, NULL, 0);
  }
}

static void* body(void* number) {
  const long me = (long)number;
  for (int round = 0; round < 6; ++round) {
    parts[(me + round) % 3] += round;  // RACE
    wait_all();
  }
  return NULL;
}

int main(void) {
  run_threads(3, body);
  use(parts[0]);
  return 0;
}
