// Threads that sleep most of the time count on a page, and store late what nothing orders.
#include "twin.h"

static struct {
  long counts[3];
  long late;
} page __attribute__((aligned(4096)));
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* body(void* number) {
  const long me = (long)number;
  for (int i = 0; i < 30; ++i) {
    for (int k = 0; k < 3000; ++k) page.counts[me] += k, use(k);
    pause_ms(2);
  }
  guard(&mutex);
  page.late += me;  // RACE
  unguard(&mutex);
  return NULL;
}

int main(void) {
  run_threads(3, body);
  use(page.late);
  return 0;
}
