// Each thread sets a bit of its own in one word; the racy ones without an atomic operation.
#include "twin.h"

static unsigned status;

static void* body(void* number) {
  for (int i = 0; i < 8; ++i) {
    const unsigned bit = 1u << (2 * i + (int)(long)number);
    if (RACY) status |= bit;  // RACE
    else __atomic_fetch_or(&status, bit, __ATOMIC_RELAXED);
    use(i);
  }
  return NULL;
}

int main(void) {
  run_threads(2, body);
  use(status);
  return 0;
}
