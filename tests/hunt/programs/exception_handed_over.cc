// A worker says that it has failed before it has stored the exception.
#include <atomic>
#include <exception>
#include <stdexcept>
#include <thread>

#include "planted.h"

static std::atomic<bool> has_failed{false};
static std::exception_ptr failure;

int main() {
  std::thread worker([] {
    try {
      throw std::runtime_error("broken");
    } catch (...) {
      BUG(has_failed = true;)
      failure = std::current_exception();
      FIX(has_failed = true;)
    }
  });
  std::thread reader([] {
    if (!has_failed) return;
    REQUIRE(failure != nullptr);
  });
  worker.join();
  reader.join();
  return 0;
}
