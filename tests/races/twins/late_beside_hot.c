// A variable that is written once, late, lies on the page of one that threads count all the time.
#include "twin.h"

static struct {
  long hot[2];
  int late;
} page __attribute__((aligned(4096)));
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* body(void* number) {
  const long me = (long)number;
  for (int i = 0; i < 200; ++i) {
    for (int k = 0; k < 2000; ++k) page.hot[me] += k, use(k);
    if (i % 40 == 0) pause_ms(1);
  }
  guard(&mutex);
  page.late = (int)me;  // RACE
  unguard(&mutex);
  return NULL;
}

int main(void) {
  run_threads(2, body);
  use(page.late);
  return 0;
}
