// A packed record has an unaligned long that one thread writes; the other writes the byte before it.
#include "program.h"

struct __attribute__((packed)) Record {
  char tag;
  long value;
  char end;
} record;
static void* one(void* unused) {
  for (int i = 0; i < 100; ++i) record.value = i, use(i);
  return unused;
}

static void* two(void* unused) {
  for (int i = 0; i < 100; ++i) record.tag = (char)i, record.end = (char)i, use(i);
  return unused;
}

int main(void) {
  run_two(one, two);
  return 0;
}
