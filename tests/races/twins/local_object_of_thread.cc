// A thread-local object tells a global what it has, when it is destroyed; main does not wait.
#include "twin.h"

#include <thread>

static long total;

struct Tally {
  long mine = 0;
  ~Tally() { total += mine; }  // RACE
};

static thread_local Tally tally;

int main() {
  std::thread thread([] {
    for (int i = 0; i < 10; ++i) tally.mine += i;
  });
  if (RACY) pause_ms(10);
  else thread.join();
  use(total);  // RACE
  if (RACY) thread.join();
  return 0;
}
