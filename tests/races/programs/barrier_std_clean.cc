// A thread writes its cell, arrives at the std::barrier and waits for the others, before it reads theirs.
#include "program.h"

#include <barrier>
#include <thread>

int cells[2];
std::barrier barrier(2);

static void body(int number) {
  for (int phase = 0; phase < 10; ++phase) {
    cells[number] = phase;
    barrier.arrive_and_wait();
    use(cells[1 - number]);
    barrier.arrive_and_wait();
  }
}

int main() {
  std::thread one(body, 0), two(body, 1);
  one.join();
  two.join();
  return 0;
}
