// A name is formatted into a private line while another thread copies a new one into it.
#include "twin.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static char name[32] = "first";

static void* renamer(void* unused) {
  guard(&mutex);
  strncpy(name, "another", sizeof name - 1);  // RACE
  unguard(&mutex);
  return unused;
}

static void* printer(void* unused) {
  char line[64];
  guard(&mutex);
  snprintf(line, sizeof line, "name: %s", name);  // RACE
  unguard(&mutex);
  use(line[6]);
  return unused;
}

int main(void) {
  run_two(renamer, printer);
  return 0;
}
