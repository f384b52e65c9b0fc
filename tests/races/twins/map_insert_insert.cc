// Two threads insert into one map, each its own keys.
#include <map>
#include <mutex>

#include "twin.h"

static std::mutex mutex;
static std::map<long, long> table;

static void* body(void* number) {
  for (long i = 0; i < 4; ++i) {
    std::unique_lock<std::mutex> guard(mutex, std::defer_lock);
    if (!RACY) guard.lock();
    table.emplace(2 * i + reinterpret_cast<long>(number), i);  // RACE
    if (RACY) pause_ms(3);
  }
  return number;
}

int main() {
  const pthread_t one = start(body, nullptr);
  pause_ms(1);
  const pthread_t two = start(body, reinterpret_cast<void*>(1));
  join(one);
  join(two);
  return 0;
}
