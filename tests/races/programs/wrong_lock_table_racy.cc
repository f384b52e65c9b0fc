// A table of locks is indexed by the thread, not by the slot: two threads come to one slot under different locks.
#include "program.h"

#include <mutex>
#include <thread>

constexpr int kSlots = 4;
std::mutex locks[kSlots];
int slots[kSlots];

static void body(int thread) {
  for (int i = 0; i < 400; ++i) {
    int slot = i % kSlots;
    std::lock_guard<std::mutex> lock(locks[thread]);
    slots[slot] += thread;  // RACE
  }
}

int main() {
  std::thread one(body, 1), two(body, 2);
  one.join();
  two.join();
  return slots[0] > 0 ? 0 : 1;
}
