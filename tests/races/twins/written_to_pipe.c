// A buffer is written to a pipe while another thread changes it.
#include "twin.h"

static char buffer[32];
static int ends[2];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* send(void* unused) {
  guard(&mutex);
  if (write(ends[1], buffer, sizeof buffer) != sizeof buffer) abort();  // RACE
  unguard(&mutex);
  return unused;
}

static void* change(void* unused) {
  pause_ms(10);
  guard(&mutex);
  buffer[5] = 'x';  // RACE
  unguard(&mutex);
  return unused;
}

int main(void) {
  if (pipe(ends) != 0) return 1;
  run_two(send, change);
  return 0;
}
