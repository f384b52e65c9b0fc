// A thread runs on memory of the program's, which is used again when it has ended.
#include "twin.h"

static char memory[1 << 17] __attribute__((aligned(4096)));
static volatile int* inside;

static void* body(void* unused) {
  volatile int local = 0;
  inside = &local;
  pause_ms(RACY ? 4 : 0);
  local = 5;  // RACE
  return unused;
}

int main(void) {
  pthread_attr_t attributes;
  pthread_t thread;
  pthread_attr_init(&attributes);
  pthread_attr_setstack(&attributes, memory, sizeof memory);
  if (pthread_create(&thread, &attributes, body, NULL) != 0) abort();
  pause_ms(RACY ? 1 : 3);
  if (!RACY) join(thread);
  if (RACY) *inside = 6;  // RACE
  if (RACY) join(thread);
  memset(memory, 1, sizeof memory);
  use(memory[100]);
  return 0;
}
