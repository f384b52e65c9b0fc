// Read-copy-update: the writer copies, changes the copy and publishes it; old snapshots are kept until the readers are
// joined.
#include "program.h"

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

struct Snapshot {
  int values[4] = {0, 0, 0, 0};
};
std::atomic<Snapshot*> current;

int main() {
  std::vector<std::unique_ptr<Snapshot>> all;
  all.push_back(std::make_unique<Snapshot>());
  current.store(all.back().get());
  auto reader = [] {
    for (int i = 0; i < 60; ++i) {
      use(current.load(std::memory_order_acquire)->values[i % 4]);
      usleep(20);
    }
  };
  std::thread one(reader), two(reader);
  for (int i = 0; i < 30; ++i) {
    all.push_back(std::make_unique<Snapshot>(*current.load()));
    Snapshot* next = all.back().get();
    for (int& value : next->values) value = i;
    current.store(next, std::memory_order_release);
    usleep(20);
  }
  one.join();
  two.join();
  return 0;
}
