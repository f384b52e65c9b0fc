// Two bit fields of one word are each guarded by a mutex of their own.
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
      state.open = i & 1;  // RACE
    }
  });
  std::thread two([] {
    for (unsigned i = 0; i < 100; ++i) {
      std::lock_guard<std::mutex> lock(second);
      state.level = i & 127;  // RACE
    }
  });
  one.join();
  two.join();
  return 0;
}
