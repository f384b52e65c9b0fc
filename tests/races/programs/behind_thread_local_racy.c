// Each thread fills thread-local memory of 4 MB, then changes a counter that nobody has touched before.
#include "program.h"

static long pad[1024];
static long cold;
static long pad_after[1024];
enum { kSize = 4 << 20 };
static __thread char block[kSize];

static void* body(void* number) {
  const long me = (long)number;
  for (long i = 0; i < kSize; i += 64) block[i] = (char)(i + me);
  use(block[kSize / 2]);
  pause_ms(me ? 30 : 0);
  cold++;  // RACE
  return NULL;
}

int main(void) {
  pthread_t one = start(body, NULL), two = start(body, (void*)1L);
  join(one);
  join(two);
  use(cold + pad[7] + pad_after[7]);
  return 0;
}
