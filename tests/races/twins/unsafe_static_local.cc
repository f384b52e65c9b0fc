// A static variable of a function is initialized without the compiler's guard.
#include "twin.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

__attribute__((noinline)) static int make(int value) { return value * 2; }

static void* body(void* argument) {
  guard(&mutex);
  static int made = make(static_cast<int>(reinterpret_cast<long>(argument)) + 1);  // RACE
  use(made);  // RACE
  unguard(&mutex);
  return nullptr;
}

int main() {
  run_threads(2, body);
  return 0;
}
