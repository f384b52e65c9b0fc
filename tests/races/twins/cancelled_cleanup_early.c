// A cancelled thread's cleanup handler writes; the racy program reads before it has joined it.
#include "twin.h"

static int closed;

static void close_down(void* unused) {
  (void)unused;
  closed = 1;  // RACE
}

static void* body(void* unused) {
  pthread_cleanup_push(close_down, NULL);
  for (;;) pause_ms(1);
  pthread_cleanup_pop(0);
  return unused;
}

int main(void) {
  pthread_t thread = start(body, NULL);
  pause_ms(10);
  pthread_cancel(thread);
  pause_ms(RACY ? 20 : 0);
  if (RACY) use(closed);  // RACE
  join(thread);
  use(closed);
  return 0;
}
