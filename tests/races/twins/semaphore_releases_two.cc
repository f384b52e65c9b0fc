// A std::counting_semaphore begins with one permit, or with as many as there are threads.
#include "twin.h"

#include <semaphore>
#include <thread>

static std::counting_semaphore<8> permits(RACY ? 2 : 1);
static long value;

static void work() {
  for (int i = 0; i < 3; ++i) {
    permits.acquire();
    value += i;  // RACE
    pause_ms(15);
    value -= 1;  // RACE
    permits.release();
  }
}

int main() {
  std::thread one(work), other(work);
  one.join();
  other.join();
  use(value);
  return 0;
}
