// An eventfd says that the sum is there; the racy thread does not wait for it.
#include <sys/eventfd.h>

#include "twin.h"

static long sum;
static int event;

static void* add(void* unused) {
  for (int i = 0; i < 100; ++i) sum += i;  // RACE
  const uint64_t one = 1;
  if (write(event, &one, sizeof one) != sizeof one) abort();
  return unused;
}

static void* show(void* unused) {
  uint64_t count = 0;
  if (!RACY && read(event, &count, sizeof count) != sizeof count) abort();
  use(sum);  // RACE
  return unused;
}

int main(void) {
  event = eventfd(0, 0);
  run_two(add, show);
  return 0;
}
