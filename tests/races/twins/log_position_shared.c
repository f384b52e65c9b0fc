// Messages go to places of a log that a shared position says.
#include "twin.h"

static char journal[256];
static unsigned position;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* write_some(void* number) {
  for (int i = 0; i < 4; ++i) {
    guard(&mutex);
    const unsigned at = position;  // RACE
    position = at + 8;  // RACE
    unguard(&mutex);
    if (at + 8 <= sizeof journal) memset(journal + at, 'a' + (int)(long)number, 8);  // RACE
  }
  return number;
}

int main(void) {
  run_threads(2, write_some);
  return 0;
}
