// An object with two bases is destroyed while a thread calls it by the second one.
#include "twin.h"

struct First {
  virtual ~First() = default;
  virtual int one() { return 1; }
};
struct Second {
  virtual ~Second() { pause_ms(30); }
  virtual int two() { return 2; }
};
struct Both : First, Second {
  ~Both() override {}  // RACE
  int two() override { return 3; }
};

static Second* shared;

static void* body(void*) {
  pause_ms(10);
  use(shared->two());  // RACE
  return nullptr;
}

int main() {
  pthread_t thread;
  {
    Both both;
    shared = &both;
    thread = start(body, nullptr);
    if (!RACY) join(thread);
  }
  if (RACY) join(thread);
  return 0;
}
