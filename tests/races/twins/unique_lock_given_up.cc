// A unique_lock is moved into a function by value, at whose end it is unlocked.
#include "twin.h"

#include <mutex>
#include <thread>

static std::mutex mutex;
static long sum, calls;

static void note(std::unique_lock<std::mutex> lock) {
  if (lock.owns_lock()) calls += 1;
}

static void add(long value) {
  std::unique_lock<std::mutex> lock(mutex);
  if (RACY) note(std::move(lock));
  sum += value;  // RACE
  if (!RACY) note(std::move(lock));
}

int main() {
  std::thread one([] { add(1); }), other([] { add(2); });
  one.join();
  other.join();
  use(sum);
  return 0;
}
