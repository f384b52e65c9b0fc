// Two std::binary_semaphores pass a slot to and fro.
#include "program.h"

#include <semaphore>
#include <thread>

std::binary_semaphore empty(1), full(0);
int slot;

int main() {
  std::thread consumer([] {
    for (int i = 0; i < 30; ++i) {
      full.acquire();
      usleep(200);
      use(slot);
      empty.release();
    }
  });
  for (int i = 0; i < 30; ++i) {
    empty.acquire();
    usleep(50);
    slot = i;
    full.release();
  }
  consumer.join();
  return 0;
}
