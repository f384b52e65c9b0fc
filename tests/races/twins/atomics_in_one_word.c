// Two atomic counters lie in one word; each thread takes a number of its own counter, or of one.
#include <stdatomic.h>

#include "twin.h"

static struct { atomic_int drawn[2]; } counters __attribute__((aligned(8)));
static int data;

static void* writer(void* unused) {
  pause_ms(1);
  data = 5;  // RACE
  use(atomic_fetch_add(&counters.drawn[0], 1));
  return unused;
}

static void* reader(void* unused) {
  pause_ms(15);
  for (int seen = 0; !(seen & 1);) {
    seen = atomic_fetch_add(&counters.drawn[RACY], 2);
    use(seen);
    if (RACY) break;
    pause_ms(1);
  }
  use(data);  // RACE
  return unused;
}

int main(void) {
  run_two(writer, reader);
  return 0;
}
