// A string is assigned while another thread asks for its size.
#include <mutex>
#include <string>

#include "twin.h"

static std::mutex mutex;
static std::string name;

static void* assign(void*) {
  std::unique_lock<std::mutex> guard(mutex, std::defer_lock);
  if (!RACY) guard.lock();
  name.assign(5, 'x');  // RACE
  return nullptr;
}

static void* measure(void*) {
  pause_ms(10);
  std::unique_lock<std::mutex> guard(mutex, std::defer_lock);
  if (!RACY) guard.lock();
  use(static_cast<long>(name.size()));  // RACE
  return nullptr;
}

int main() {
  run_two(assign, measure);
  return 0;
}
