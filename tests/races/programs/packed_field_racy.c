// A packed record has an unaligned long that two threads write.
#include "program.h"

struct __attribute__((packed)) Record {
  char tag;
  long value;
  char end;
} record;
static void* one(void* unused) {
  for (int i = 0; i < 100; ++i) record.value = i, use(i);  // RACE
  return unused;
}

static void* two(void* unused) {
  for (int i = 0; i < 100; ++i) record.value = -i, use(i);  // RACE
  return unused;
}

int main(void) {
  run_two(one, two);
  return 0;
}
