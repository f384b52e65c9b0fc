// Two threads rethrow one exception and change what it holds.
#include <exception>
#include <mutex>
#include <thread>

#include "twin.h"

struct Error {
  int count = 0;
};
static std::mutex mutex;

int main() {
  std::exception_ptr error = std::make_exception_ptr(Error{});
  auto body = [error] {
    try {
      std::rethrow_exception(error);
    } catch (Error& caught) {
      std::unique_lock<std::mutex> lock(mutex, std::defer_lock);
      if (!RACY) lock.lock();
      caught.count++;  // RACE
    }
  };
  std::thread one(body), two(body);
  one.join();
  two.join();
  return 0;
}
