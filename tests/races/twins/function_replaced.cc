// A callback is replaced while another thread asks whether there is one.
#include <functional>
#include <mutex>

#include "twin.h"

static std::mutex mutex;
static std::function<int(int)> callback = [](int value) { return value; };

static void* replace(void* unused) {
  std::unique_lock<std::mutex> guard(mutex, std::defer_lock);
  if (!RACY) guard.lock();
  callback = [](int value) { return value + 1; };  // RACE
  return unused;
}

static void* call(void* unused) {
  pause_ms(5);
  std::unique_lock<std::mutex> guard(mutex, std::defer_lock);
  if (!RACY) guard.lock();
  if (callback) use(callback(1));  // RACE
  return unused;
}

int main() {
  run_two(replace, call);
  return 0;
}
