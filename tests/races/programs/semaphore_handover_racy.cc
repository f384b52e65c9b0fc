// The producer does not wait for `empty` the first two times, so that it overwrites a slot in use.
#include "program.h"

#include <semaphore>
#include <thread>

std::counting_semaphore<4> empty(2), full(0);
int slot;

int main() {
  std::thread consumer([] {
    for (int i = 0; i < 30; ++i) {
      full.acquire();
      usleep(200);
      use(slot);  // RACE
      empty.release();
    }
  });
  for (int i = 0; i < 30; ++i) {
    empty.acquire();
    usleep(50);
    slot = i;  // RACE
    full.release();
  }
  consumer.join();
  return 0;
}
