// Two threads take words from one text.
#include "twin.h"

static char text[] = "one two three four five six seven eight";
static char* place = text;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* body(void* unused) {
  for (int i = 0; i < 3; ++i) {
    guard(&mutex);
    use((long)strsep(&place, " "));  // RACE
    unguard(&mutex);
  }
  return unused;
}

int main(void) {
  run_threads(2, body);
  return 0;
}
