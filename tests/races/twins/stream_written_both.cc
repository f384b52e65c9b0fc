// Two threads write into one string stream.
#include <mutex>
#include <sstream>

#include "twin.h"

static std::mutex mutex;
static std::ostringstream out;

static void* body(void* number) {
  for (int i = 0; i < 8; ++i) {
    std::unique_lock<std::mutex> guard(mutex, std::defer_lock);
    if (!RACY) guard.lock();
    out.put(static_cast<char>('a' + i));  // RACE
  }
  return number;
}

int main() {
  run_two(body, body);
  return out.str().empty();
}
