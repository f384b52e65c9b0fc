// A const method keeps its result in a mutable member.
#include "twin.h"

#include <mutex>

class Shape {
 public:
  int area() const {
    std::unique_lock<std::mutex> lock(mutex_, std::defer_lock);
    if (!RACY) lock.lock();
    if (cached_ < 0) cached_ = side_ * side_;  // RACE
    return cached_;                             // RACE
  }

 private:
  int side_ = 3;
  mutable int cached_ = -1;
  mutable std::mutex mutex_;
};
static const Shape shape;

static void* body(void* number) {
  pause_ms(5 * (int)(long)number);
  use(shape.area());
  return nullptr;
}

int main() {
  run_threads(2, body);
  return 0;
}
