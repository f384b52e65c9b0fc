// A packaged task runs twice, its second run in another thread.
#include <future>
#include <thread>

#include "twin.h"

static int runs;

int main() {
  std::packaged_task<void()> task([] { runs++; });  // RACE
  auto done = task.get_future();
  std::thread thread([&] { task(); });
  done.get();
  if (!RACY) thread.join();
  std::thread other([] {
    pause_ms(1);
    if (!RACY) use(runs);
  });
  if (RACY) {
    std::thread third([] { runs += 2; });  // RACE
    runs += 3;                             // RACE
    third.join();
  }
  other.join();
  if (RACY) thread.join();
  return 0;
}
