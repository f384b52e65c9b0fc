// A promise is broken by an exception; the racy thread goes on storing.
#include <future>
#include <stdexcept>
#include <thread>

#include "twin.h"

static int data;

int main() {
  std::promise<void> promise;
  auto future = promise.get_future();
  std::thread thread([&] {
    if (!RACY) data = 1;
    promise.set_exception(std::make_exception_ptr(std::runtime_error("no")));
    if (RACY) data = 2;  // RACE
  });
  try {
    future.get();
  } catch (const std::runtime_error&) {
    use(data);  // RACE
  }
  thread.join();
  return 0;
}
