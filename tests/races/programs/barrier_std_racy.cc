// A thread writes its cell after it arrived at the std::barrier, without waiting for the phase to end.
#include "program.h"

#include <barrier>
#include <thread>

int cells[2];
std::barrier barrier(2);

static void body(int number) {
  for (int phase = 0; phase < 10; ++phase) {
    barrier.arrive_and_wait();
    cells[number] = phase;   // RACE
    use(cells[1 - number]);  // RACE
    barrier.arrive_and_wait();
  }
}

int main() {
  std::thread one(body, 0), two(body, 1);
  one.join();
  two.join();
  return 0;
}
