// A std::any gets another value while a thread asks for it.
#include <any>

#include "twin.h"

static std::any setting = 1;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* replace(void* unused) {
  guard(&mutex);
  setting = 2.5;  // RACE
  unguard(&mutex);
  return unused;
}

static void* ask(void* unused) {
  guard(&mutex);
  use(setting.has_value());  // RACE
  unguard(&mutex);
  return unused;
}

int main() {
  run_two(replace, ask);
  return 0;
}
