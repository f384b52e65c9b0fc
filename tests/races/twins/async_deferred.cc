// A deferred task runs in whichever thread asks first for its result.
#include "twin.h"

#include <future>

static std::shared_future<int> result;
static int steps;

static void* body(void* number) {
  pause_ms(5 * (int)(long)number);
  std::shared_future<int> mine = result;
  use(mine.get());
  use(steps);             // RACE
  if (RACY) steps += 1;  // RACE
  return nullptr;
}

int main() {
  result = std::async(std::launch::deferred, [] { return ++steps; }).share();
  run_threads(2, body);
  return 0;
}
