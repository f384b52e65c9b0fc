// Each call locks a mutex of its own object, which is a copy of the one that is meant.
#include "twin.h"

#include <memory>
#include <mutex>
#include <thread>

struct Guarded {
  std::shared_ptr<std::mutex> mutex = std::make_shared<std::mutex>();
  long* count;
  explicit Guarded(long* where) : count(where) {}
  Guarded(const Guarded& other)
      : mutex(RACY ? std::make_shared<std::mutex>() : other.mutex), count(other.count) {}
  void operator()() const {
    for (int i = 0; i < 10; ++i) {
      const std::scoped_lock lock(*mutex);
      *count += 1;  // RACE
    }
  }
};

static long count;

int main() {
  const Guarded guarded(&count);
  std::thread one{Guarded(guarded)}, other{Guarded(guarded)};
  one.join();
  other.join();
  use(count);
  return 0;
}
