// An exception is kept for another thread, which looks too early.
#include <exception>
#include <mutex>
#include <stdexcept>

#include "twin.h"

static std::mutex mutex;
static std::exception_ptr failure;

static void* fail(void* unused) {
  try {
    throw std::runtime_error("no");
  } catch (...) {
    std::unique_lock<std::mutex> guard(mutex, std::defer_lock);
    if (!RACY) guard.lock();
    failure = std::current_exception();  // RACE
  }
  return unused;
}

static void* look(void* unused) {
  pause_ms(20);
  std::unique_lock<std::mutex> guard(mutex, std::defer_lock);
  if (!RACY) guard.lock();
  use(failure ? 1 : 0);  // RACE
  return unused;
}

int main() {
  run_two(fail, look);
  return 0;
}
