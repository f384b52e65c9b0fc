// Two threads cut words off one text by strtok_r() with one pointer to the rest.
#include "twin.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static char text[] = "one two three four five six seven";
static char* rest = text;

static void* body(void* number) {
  pause_ms(5 * (int)(long)number);
  for (int i = 0; i < 2; ++i) {
    guard(&mutex);
    char* word = strtok_r(NULL, " ", &rest);  // RACE
    unguard(&mutex);
    use((long)word);
  }
  return NULL;
}

int main(void) {
  run_threads(2, body);
  return 0;
}
