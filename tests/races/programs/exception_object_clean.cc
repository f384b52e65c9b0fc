// Two threads rethrow one exception (exception_ptr) and only read the object, of which there is only one.
#include "program.h"

#include <exception>
#include <thread>

struct Failure {
  int times = 1;
};

static void handle(std::exception_ptr failure, int wait) {
  try {
    std::rethrow_exception(failure);
  } catch (const Failure& caught) {
    pause_ms(wait);
    use(caught.times);
    pause_ms(60);
  }
}

int main() {
  const std::exception_ptr failure = std::make_exception_ptr(Failure{});
  std::thread one(handle, failure, 0), two(handle, failure, 20);
  one.join();
  two.join();
  return 0;
}
