// One thread reads a name by strlen and strchr that another one writes by snprintf.
#include "twin.h"

char name[32] = "none";
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* writer(void* unused) {
  guard(&mutex);
  snprintf(name, sizeof name, "name %d", 5);  // RACE
  unguard(&mutex);
  return unused;
}

static void* reader(void* unused) {
  guard(&mutex);
  use((long)strlen(name));  // RACE
  use(strchr(name, 'm') != NULL);  // RACE
  unguard(&mutex);
  return unused;
}

int main(void) {
  run_two(writer, reader);
  return 0;
}
