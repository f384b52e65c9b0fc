// The kernel fills a buffer from a pipe while another thread looks at it.
#include "twin.h"

static char buffer[32];
static int ends[2];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* receive(void* unused) {
  guard(&mutex);
  if (read(ends[0], buffer, sizeof buffer) != 6) abort();  // RACE
  unguard(&mutex);
  return unused;
}

static void* look(void* unused) {
  pause_ms(10);
  guard(&mutex);
  use(buffer[2]);  // RACE
  unguard(&mutex);
  return unused;
}

int main(void) {
  if (pipe(ends) != 0 || write(ends[1], "words", 6) != 6) return 1;
  run_two(receive, look);
  return 0;
}
