// Two threads take fields of a line by strsep().
#include "twin.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static char line[] = "a:b:c:d:e:f";
static char* place = line;

static void* body(void* number) {
  pause_ms(5 * (int)(long)number);
  guard(&mutex);
  char* field = strsep(&place, ":");  // RACE
  unguard(&mutex);
  use((long)field);
  return NULL;
}

int main(void) {
  run_threads(2, body);
  return 0;
}
