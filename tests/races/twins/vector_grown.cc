// A vector grows while another thread asks for its size.
#include <mutex>
#include <vector>

#include "twin.h"

static std::mutex mutex;
static std::vector<int> numbers;

static void* grow(void*) {
  for (int i = 0; i < 10; ++i) {
    std::unique_lock<std::mutex> guard(mutex, std::defer_lock);
    if (!RACY) guard.lock();
    numbers.push_back(i);  // RACE
  }
  return nullptr;
}

static void* ask(void*) {
  for (int i = 0; i < 10; ++i) {
    std::unique_lock<std::mutex> guard(mutex, std::defer_lock);
    if (!RACY) guard.lock();
    use(static_cast<long>(numbers.size()));  // RACE
  }
  return nullptr;
}

int main() {
  run_two(grow, ask);
  return 0;
}
