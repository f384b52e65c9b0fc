// main polls a plain flag of a detached std::thread, for a while.
#include "program.h"

#include <atomic>
#include <thread>

volatile bool finished;
int result;

int main() {
  std::thread([] {
    result = 42;      // RACE
    finished = true;  // RACE
  }).detach();
  for (int i = 0; i < 100 && !finished; ++i) usleep(100);  // RACE
  use(result);                                             // RACE
  return 0;
}
