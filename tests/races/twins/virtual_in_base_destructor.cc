// A base's destructor waits for the thread that calls a virtual function: the vptr has changed by then.
#include "twin.h"

struct Task {
  pthread_t thread = 0;
  bool was_joined = false;
  virtual void run() {}
  static void* body(void* task) {
    pause_ms(10);
    static_cast<Task*>(task)->run();  // RACE
    return nullptr;
  }
  void begin() { thread = start(body, this); }
  void finish() {
    join(thread);
    was_joined = true;
  }
  virtual ~Task() {
    if (!was_joined) finish();
  }  // RACE
};
struct Print : Task {
  void run() override { use(1); }
  ~Print() override {  // RACE
    if (!RACY) finish();
  }
};

int main() {
  Print print;
  print.begin();
  return 0;
}
