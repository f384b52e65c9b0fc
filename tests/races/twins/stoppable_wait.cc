// A wait of condition_variable_any is ended by a stop request.
#include "twin.h"

#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <thread>

static std::mutex mutex;
static std::condition_variable_any condition;
static bool ready;
static int rest;

int main() {
  std::jthread thread([](std::stop_token stop) {
    {
      std::unique_lock<std::mutex> lock(mutex);
      condition.wait(lock, stop, [] { return ready; });
    }
    if (RACY) pause_ms(10);
    use(rest);  // RACE
  });
  pause_ms(10);
  if (!RACY) rest = 4;
  thread.request_stop();
  if (RACY) rest = 4;  // RACE
  thread.join();
  return 0;
}
