// A thread that the base class starts calls a virtual function before the derived class is
// complete.
#include <atomic>
#include <memory>
#include <thread>

#include "planted.h"

struct Base {
  std::thread thread;
  std::atomic<int> seen{0};
  void start() {
    thread = std::thread([this] { seen = kind(); });
  }
  Base() { BUG(start();) }
  virtual ~Base() = default;
  virtual int kind() { return 1; }
};

struct Derived : Base {
  Derived() { FIX(start();) }
  int kind() override { return 2; }
};

int main() {
  Derived derived;
  derived.thread.join();
  REQUIRE(derived.seen == 2);
  return 0;
}
