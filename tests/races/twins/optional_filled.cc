// An optional is filled by one thread, asked by the other.
#include <mutex>
#include <optional>

#include "twin.h"

static std::mutex mutex;
static std::optional<long> answer;

static void* fill(void* unused) {
  std::unique_lock<std::mutex> guard(mutex, std::defer_lock);
  if (!RACY) guard.lock();
  answer = 42;  // RACE
  return unused;
}

static void* ask(void* unused) {
  pause_ms(5);
  std::unique_lock<std::mutex> guard(mutex, std::defer_lock);
  if (!RACY) guard.lock();
  use(answer.has_value());  // RACE
  return unused;
}

int main() {
  run_two(fill, ask);
  return 0;
}
