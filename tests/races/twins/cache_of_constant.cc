// A constant object keeps what it has computed in a mutable member.
#include <mutex>

#include "twin.h"

class Shape {
 public:
  int area() const {
    std::unique_lock<std::mutex> guard(mutex_, std::defer_lock);
    if (!RACY) guard.lock();
    if (!area_) area_ = side_ * side_;  // RACE
    return area_;                       // RACE
  }

 private:
  int side_ = 5;
  mutable int area_ = 0;
  mutable std::mutex mutex_;
};
static Shape shape;

static void* body(void*) {
  use(shape.area());
  return nullptr;
}

int main() {
  run_threads(2, body);
  return 0;
}
