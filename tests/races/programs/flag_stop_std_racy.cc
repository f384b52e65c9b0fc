// main stops a worker by a plain bool.
#include "program.h"

#include <atomic>
#include <thread>

bool stop = false;

int main() {
  std::thread worker([] {
    for (int i = 0; i < 100; ++i) {
      if (stop) break;  // RACE
      pause_ms(1);
    }
  });
  pause_ms(5);
  stop = true;  // RACE
  worker.join();
  return 0;
}
