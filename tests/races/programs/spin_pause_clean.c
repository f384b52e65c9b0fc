// A thread spins until another says that it may go on; that one has written all before.
#include "program.h"

int value, may_go;
static void* writer(void* unused) {
  value = 1;
  pause_ms(15);
  __atomic_store_n(&may_go, 1, __ATOMIC_RELEASE);
  return unused;
}

static void* reader(void* unused) {
  while (!__atomic_load_n(&may_go, __ATOMIC_ACQUIRE)) __builtin_ia32_pause();
  use(value);
  return unused;
}

int main(void) {
  run_two(writer, reader);
  return 0;
}
