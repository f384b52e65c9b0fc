// A thread object is moved into a holder that joins; the racy creator reads before that.
#include <thread>
#include <utility>

#include "twin.h"

static int state;

struct Joining {
  std::thread thread;
  ~Joining() { thread.join(); }
};

int main() {
  {
    Joining joining{std::thread([] { state = 4; })};  // RACE
    if (RACY) use(state);  // RACE
  }
  use(state);
  return 0;
}
