// Each thread has the slot that its kernel number chooses, of which there are too few.
#include "twin.h"

#include <sys/syscall.h>

enum { kSlots = RACY ? 1 : 64 };
static struct {
  int owner;
  long sum;
} slots[64];

static void* body(void* unused) {
  const int me = (int)syscall(SYS_gettid);
  int at = me % kSlots;
  if (!RACY) {
    int free = 0;
    while (!__atomic_compare_exchange_n(&slots[at].owner, &free, me, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
      free = 0;
      at = (at + 1) % kSlots;
    }
  }
  for (int i = 0; i < 4; ++i) slots[at].sum += i;  // RACE
  return unused;
}

int main(void) {
  run_threads(4, body);
  use(slots[0].sum);
  return 0;
}
