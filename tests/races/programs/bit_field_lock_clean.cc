// Two bit fields of one word are guarded by one mutex.
#include "program.h"

#include <mutex>
#include <thread>

struct State {
  unsigned open : 1;
  unsigned level : 7;
};
State state;
std::mutex first, second;

int main() {
  std::thread one([] {
    for (unsigned i = 0; i < 100; ++i) {
      std::lock_guard<std::mutex> lock(first);
      state.open = i & 1;
    }
  });
  std::thread two([] {
    for (unsigned i = 0; i < 100; ++i) {
      std::lock_guard<std::mutex> lock(first);
      state.level = i & 127;
    }
  });
  one.join();
  two.join();
  return 0;
}
