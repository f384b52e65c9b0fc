// A thread leaves a barrier (arrive_and_drop) and goes on storing in the racy program.
#include <barrier>
#include <thread>

#include "twin.h"

static int parts[2];

int main() {
  std::barrier barrier(2);
  std::thread thread([&] {
    if (!RACY) parts[1] = 4;
    barrier.arrive_and_drop();
    if (RACY) parts[1] = 5;  // RACE
  });
  barrier.arrive_and_wait();
  use(parts[1]);  // RACE
  thread.join();
  return 0;
}
