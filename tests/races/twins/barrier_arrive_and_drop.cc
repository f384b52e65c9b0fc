// A thread leaves a std::barrier, and writes after that, or before.
#include "twin.h"

#include <barrier>
#include <thread>

static int cells[2];

int main() {
  std::barrier<> both(2);
  std::thread leaver([&both] {
    if (!RACY) cells[0] = 1;
    both.arrive_and_drop();
    if (RACY) cells[0] = 1;  // RACE
  });
  std::thread stayer([&both] {
    cells[1] = 2;
    both.arrive_and_wait();
    use(cells[0] + cells[1]);  // RACE
  });
  leaver.join();
  stayer.join();
  return 0;
}
