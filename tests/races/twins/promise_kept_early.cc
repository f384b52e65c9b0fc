// A promise is kept, and only then what it stands for is stored.
#include <future>

#include "twin.h"

static int result;

int main() {
  std::promise<void> promise;
  std::future<void> done = promise.get_future();
  std::thread thread([&] {
    if (!RACY) result = 3;
    promise.set_value();
    if (RACY) result = 3;  // RACE
  });
  done.wait();
  use(result);  // RACE
  thread.join();
  return 0;
}
