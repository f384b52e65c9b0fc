// A base class changes a member under its lock; the derived one reads it without.
#include <mutex>

#include "twin.h"

class Base {
 public:
  void add(int by) {
    const std::lock_guard<std::mutex> lock(mutex_);
    sum_ += by;  // RACE
  }

 protected:
  std::mutex mutex_;
  int sum_ = 0;
};

class Derived : public Base {
 public:
  int asked() {
    if (RACY) return sum_;  // RACE
    const std::lock_guard<std::mutex> lock(mutex_);
    return sum_;
  }
};

static Derived object;

static void* add(void* unused) {
  for (int i = 0; i < 10; ++i) object.add(i);
  return unused;
}

static void* ask(void* unused) {
  use(object.asked());
  return unused;
}

int main() {
  run_two(add, ask);
  return 0;
}
