// An exit handler reads what a thread that was never joined writes.
#include "twin.h"

static long journal[16];
static pthread_t thread;

static void* body(void* unused) {
  for (int i = 0; i < 16; ++i) journal[i] = i;  // RACE
  return unused;
}

static void at_end(void) {
  if (!RACY) join(thread);
  long sum = 0;
  for (int i = 0; i < 16; ++i) sum += journal[i];  // RACE
  use(sum);
}

int main(void) {
  atexit(at_end);
  thread = start(body, NULL);
  pause_ms(5);
  return 0;
}
