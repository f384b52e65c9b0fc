// A dynamic_cast reads the vptr of an object whose destructor runs.
#include <mutex>
#include <thread>

#include "twin.h"

static std::mutex mutex;

struct Shape {
  virtual ~Shape() { use(sides); }
  int sides = 0;
};
struct Square : Shape {
  ~Square() override {  // RACE
    pause_ms(3);
    sides = 4;
  }  // RACE
};

int main() {
  Shape* shape = new Square;
  std::thread thread([&] {
    std::scoped_lock lock(mutex);
    if (shape != nullptr) use(dynamic_cast<Square*>(shape) != nullptr);  // RACE
  });
  pause_ms(1);
  std::unique_lock<std::mutex> lock(mutex);
  Shape* old = shape;
  if (!RACY) shape = nullptr;
  lock.unlock();
  delete old;  // RACE
  thread.join();
  return 0;
}
