// Two threads append to one string.
#include <mutex>
#include <string>

#include "twin.h"

static std::mutex mutex;
static std::string text;

static void* body(void* unused) {
  for (int i = 0; i < 8; ++i) {
    std::unique_lock<std::mutex> guard(mutex, std::defer_lock);
    if (!RACY) guard.lock();
    text += 'x';  // RACE
  }
  return unused;
}

int main() {
  text.reserve(64);
  run_two(body, body);
  return 0;
}
