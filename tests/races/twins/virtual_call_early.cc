// An object gives itself to a thread from the constructor of its base; then its vptr changes.
#include "twin.h"

struct Base {
  pthread_t thread = 0;
  explicit Base(bool begins) {
    if (begins) begin();
  }
  void begin() { thread = start(run, this); }
  virtual int number() { return 1; }
  virtual ~Base() = default;
  static void* run(void* object) {
    pause_ms(5);
    use(static_cast<Base*>(object)->number());  // RACE
    return nullptr;
  }
};

struct Derived : Base {
  Derived() : Base(RACY) {  // RACE
    if (!RACY) begin();
  }
  int number() override { return 2; }
};

int main() {
  Derived object;
  join(object.thread);
  return 0;
}
