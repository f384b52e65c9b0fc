// A cleanup handler uses what the thread that cancels has stored before.
#include "twin.h"

static int data;

static void cleaned(void* unused) {
  (void)unused;
  use(data);  // RACE
}

static void* body(void* unused) {
  pthread_cleanup_push(cleaned, NULL);
  for (;;) usleep(1000);
  pthread_cleanup_pop(1);
  return unused;
}

int main(void) {
  pthread_t thread = start(body, NULL);
  pause_ms(2);
  if (!RACY) data = 2;
  pthread_cancel(thread);
  if (RACY) data = 3;  // RACE
  join(thread);
  return 0;
}
