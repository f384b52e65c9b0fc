// A unique_lock is given up before the last use of what it guards.
#include <mutex>

#include "twin.h"

static std::mutex mutex;
static struct {
  int count, last;
} state;

static void* body(void* number) {
  std::unique_lock<std::mutex> lock(mutex);
  state.count++;
  if (RACY) lock.unlock();
  pause_ms(2);
  state.last = (int)(long)number;  // RACE
  return nullptr;
}

int main() {
  run_threads(2, body);
  use(state.count + state.last);
  return 0;
}
