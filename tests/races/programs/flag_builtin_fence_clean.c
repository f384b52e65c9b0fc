// The flag is relaxed, and __sync_synchronize on both sides is a fence. gcc's ThreadSanitizer does not know fences.
#include "program.h"

int flag, payload;
static void* reader(void* unused) {
  while (!__atomic_load_n(&flag, __ATOMIC_RELAXED)) pause_ms(1);
  __sync_synchronize();
  use(payload);
  return unused;
}

static void* writer(void* unused) {
  payload = 9;
  __sync_synchronize();
  __atomic_store_n(&flag, 1, __ATOMIC_RELAXED);
  return unused;
}

int main(void) {
  run_two(reader, writer);
  return 0;
}
