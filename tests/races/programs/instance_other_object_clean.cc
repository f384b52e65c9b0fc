// swap locks both cells with std::scoped_lock.
#include "program.h"

#include <mutex>
#include <thread>
#include <utility>

struct Cell {
  void swap(Cell& other) {
    std::scoped_lock lock(mutex, other.mutex);
    std::swap(value, other.value);
  }
  void set(int to) {
    std::lock_guard<std::mutex> lock(mutex);
    value = to;
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
