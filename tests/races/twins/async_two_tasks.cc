// Two asynchronous tasks add to one sum.
#include <future>
#include <mutex>

#include "twin.h"

static std::mutex mutex;
static long sum;

static void add(long much) {
  std::unique_lock<std::mutex> guard(mutex, std::defer_lock);
  if (!RACY) guard.lock();
  sum += much;  // RACE
}

int main() {
  std::future<void> one = std::async(std::launch::async, add, 1),
                    two = std::async(std::launch::async, add, 2);
  one.wait();
  two.wait();
  use(sum);
  return 0;
}
