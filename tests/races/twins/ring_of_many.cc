// A bounded queue of cells with sequence numbers; the racy consumers do not look at them.
#include <atomic>
#include <thread>

#include "twin.h"

struct Cell {
  std::atomic<unsigned> sequence{0};
  int value = 0;
};
static Cell cells[8];
static std::atomic<unsigned> head{0}, tail{0};

static void produce() {
  for (int i = 0; i < 8; ++i) {
    const unsigned at = tail.fetch_add(1, std::memory_order_relaxed);
    cells[at % 8].value = i;  // RACE
    cells[at % 8].sequence.store(at + 1, std::memory_order_release);
  }
}

static void consume() {
  for (int i = 0; i < 8; ++i) {
    const unsigned at = head.fetch_add(1, std::memory_order_relaxed);
    while (!RACY && cells[at % 8].sequence.load(std::memory_order_acquire) != at + 1) std::this_thread::yield();
    use(cells[at % 8].value);  // RACE
  }
}

int main() {
  std::thread one(produce), two(consume);
  one.join();
  two.join();
  return 0;
}
