// A function counts its calls in a static variable.
#include <mutex>

#include "twin.h"

static std::mutex mutex;

static int next() {
  static int calls = 0;
  std::unique_lock<std::mutex> guard(mutex, std::defer_lock);
  if (!RACY) guard.lock();
  return ++calls;  // RACE
}

static void* body(void*) {
  use(next());
  return nullptr;
}

int main() {
  run_threads(3, body);
  return 0;
}
