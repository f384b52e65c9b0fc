// Two copies of a table: readers announce themselves, and the writer changes the copy that nobody reads.
#include <atomic>
#include <thread>

#include "twin.h"

static std::atomic<int> which{0}, readers[2];
static int tables[2] = {1, 1};

static void read_it() {
  for (int i = 0; i < 30; ++i) {
    const int at = which.load();
    readers[at]++;
    if (RACY || which.load() == at) use(tables[at]);  // RACE
    readers[at]--;
  }
}

int main() {
  std::thread reader(read_it);
  for (int i = 0; i < 6; ++i) {
    const int at = 1 - which.load();
    while (!RACY && readers[at].load() != 0) std::this_thread::yield();
    tables[at] = i;  // RACE
    which.store(at);
    if (i % 2 == 0) pause_ms(1);
  }
  reader.join();
  return 0;
}
