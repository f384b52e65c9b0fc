// Double-checked locking of an object, by a plain pointer; in the clean twin the lock is always taken.
#include <mutex>

#include "twin.h"

struct Registry {
  int entries = 12;
};
static std::mutex mutex;
static Registry* registry;

static Registry& get() {
  if (RACY && registry) return *registry;  // RACE
  const std::lock_guard<std::mutex> guard(mutex);
  if (!registry) registry = new Registry;  // RACE
  return *registry;
}

static void* body(void* number) {
  pause_ms(3 * static_cast<int>(reinterpret_cast<long>(number)));
  use(get().entries);
  return nullptr;
}

int main() {
  run_threads(3, body);
  delete registry;
  return 0;
}
