// __sync_synchronize in the writer only, and a plain int as flag: that orders the processor, not the program.
#include "program.h"

int flag, payload;
static void* reader(void* unused) {
  for (int i = 0; i < 20 && !flag; ++i) pause_ms(1);  // RACE
  use(payload);                                       // RACE
  return unused;
}

static void* writer(void* unused) {
  payload = 9;  // RACE
  __sync_synchronize();
  flag = 1;  // RACE
  return unused;
}

int main(void) {
  run_two(reader, writer);
  return 0;
}
