// An integer of 128 bits is counted up by two threads.
#include "twin.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static unsigned __int128 total;

static void* body(void* number) {
  pause_ms(5 * (int)(long)number);
  guard(&mutex);
  total += (unsigned __int128)1 << 70;  // RACE
  unguard(&mutex);
  return NULL;
}

int main(void) {
  run_threads(2, body);
  use((long)(total >> 64));
  return 0;
}
