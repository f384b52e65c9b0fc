// One thread stores a member of a union whole, the other a byte of it by another member.
#include "twin.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static union {
  unsigned long whole;
  struct {
    unsigned short low, middle, high, top;
  } parts;
} number;

static void* store_whole(void* unused) {
  guard(&mutex);
  number.whole = 0x1122334455667788;  // RACE
  unguard(&mutex);
  return unused;
}

static void* store_part(void* unused) {
  guard(&mutex);
  number.parts.middle = 17;  // RACE
  unguard(&mutex);
  return unused;
}

int main(void) {
  run_two(store_whole, store_part);
  use((long)number.whole);
  return 0;
}
