// A thread makes a virtual call until a destructor joins it: that of the base class, in which the
// object is of another class already, or that of its own class, which leaves the vptr as it is.
#include "twin.h"

struct Base {
  pthread_t thread = 0;
  virtual int number() { return 1; }
  virtual ~Base() {  // RACE
    if (RACY) join(thread);
  }
  static void* run(void* object) {
    pause_ms(10);
    use(static_cast<Base*>(object)->number());  // RACE
    return nullptr;
  }
};

struct Derived : Base {
  Derived() { thread = start(run, this); }
  int number() override { return 2; }
  ~Derived() override {
    if (!RACY) join(thread);
  }
};

int main() {
  Derived object;
  return 0;
}
