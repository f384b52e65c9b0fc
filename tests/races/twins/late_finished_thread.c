// A thread has long ended when main touches what it stored; main joins it only then.
#include "twin.h"

int value;

static void* body(void* unused) {
  value = 1;  // RACE
  return unused;
}

int main(void) {
  pthread_t thread = start(body, NULL);
  pause_ms(40);
  if (!RACY) join(thread);
  value++;  // RACE
  if (RACY) join(thread);
  return value > 0 ? 0 : 1;
}
