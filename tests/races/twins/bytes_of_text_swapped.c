// One thread turns a text round in place while the other compares it.
#include "twin.h"

static char text[] = "a text of some length";
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* turn(void* unused) {
  guard(&mutex);
  for (unsigned i = 0, k = sizeof text - 2; i < k; ++i, --k) {
    const char left = text[i];  // RACE
    text[i] = text[k];  // RACE
    text[k] = left;  // RACE
  }
  unguard(&mutex);
  return unused;
}

static void* compare(void* unused) {
  pause_ms(5);
  guard(&mutex);
  use(strncmp(text, "a text", 6));  // RACE
  unguard(&mutex);
  return unused;
}

int main(void) {
  run_two(turn, compare);
  return 0;
}
