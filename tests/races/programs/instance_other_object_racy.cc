// swap locks only `this` and not the other cell, whose own thread changes it under its own lock.
#include "program.h"

#include <mutex>
#include <thread>
#include <utility>

struct Cell {
  void swap(Cell& other) {
    std::lock_guard<std::mutex> lock(mutex);
    std::swap(value, other.value);  // RACE
  }
  void set(int to) {
    std::lock_guard<std::mutex> lock(mutex);
    value = to;  // RACE
  }
  std::mutex mutex;
  int value = 0;
};
Cell left, right;

int main() {
  std::thread one([] {
    for (int i = 0; i < 200; ++i) left.swap(right);
  });
  std::thread two([] {
    for (int i = 0; i < 200; ++i) right.set(i);
  });
  one.join();
  two.join();
  return 0;
}
