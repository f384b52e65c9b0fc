// Sleeping is the only order: the first thread is always done before the second begins to look.
#include "twin.h"

static sem_t done;
static int stage;

static void* first(void* unused) {
  stage = 1;  // RACE
  if (!RACY) sem_post(&done);
  return unused;
}

static void* second(void* unused) {
  if (!RACY) sem_wait(&done);
  pause_ms(60);
  use(stage);  // RACE
  return unused;
}

int main(void) {
  sem_init(&done, 0, 0);
  run_two(first, second);
  return 0;
}
