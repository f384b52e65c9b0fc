// std::atomic_flag with wait() and notify_one(); racy: what is written behind it.
#include "twin.h"

#include <atomic>

static std::atomic_flag flag;
static int data;

static void* waiter(void*) {
  flag.wait(false);
  if (RACY) pause_ms(10);
  use(data);  // RACE
  return nullptr;
}

int main() {
  pthread_t thread = start(waiter, nullptr);
  pause_ms(10);
  if (!RACY) data = 1;
  flag.test_and_set();
  flag.notify_one();
  if (RACY) data = 1;  // RACE
  join(thread);
  return 0;
}
