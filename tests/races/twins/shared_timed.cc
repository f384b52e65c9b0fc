// std::shared_timed_mutex is tried for some time; the racy writer goes on without it.
#include "twin.h"

#include <chrono>
#include <shared_mutex>

static std::shared_timed_mutex mutex;
static int table[4];

static void* reader(void*) {
  std::shared_lock<std::shared_timed_mutex> lock(mutex);
  use(table[1]);  // RACE
  pause_ms(50);
  use(table[1]);  // RACE
  return nullptr;
}

static void* writer(void*) {
  pause_ms(10);
  const bool had = mutex.try_lock_for(std::chrono::milliseconds(5));
  if (had || RACY) table[1] += 1;  // RACE
  if (had) mutex.unlock();
  return nullptr;
}

int main() {
  run_two(reader, writer);
  return 0;
}
