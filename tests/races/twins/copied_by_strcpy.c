// A name is copied into a shared buffer whose length another thread asks for.
#include "twin.h"

static char name[32];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* set(void* text) {
  guard(&mutex);
  strcpy(name, text);  // RACE
  unguard(&mutex);
  return NULL;
}

static void* measure(void* unused) {
  pause_ms(5);
  guard(&mutex);
  use((long)strlen(name));  // RACE
  unguard(&mutex);
  return unused;
}

int main(int argc, char** argv) {
  pthread_t one = start(set, argc > 0 ? "a name" : argv[0]), two = start(measure, NULL);
  join(one);
  join(two);
  return 0;
}
