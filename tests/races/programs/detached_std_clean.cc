// main polls an atomic flag of a detached std::thread.
#include "program.h"

#include <atomic>
#include <thread>

std::atomic<bool> finished{false};
int result;

int main() {
  std::thread([] {
    result = 42;
    finished = true;
  }).detach();
  while (!finished) usleep(100);
  use(result);
  return 0;
}
