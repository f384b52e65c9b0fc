// Several threads make an object, and one of them wins by compare and exchange.
#include <atomic>
#include <thread>

#include "twin.h"

struct Object {
  int value = 0;
};
static std::atomic<Object*> instance{nullptr};

static void body() {
  Object* object = instance.load(std::memory_order_acquire);
  if (object == nullptr) {
    auto* made = new Object;
    if (!RACY) made->value = 7;
    if (instance.compare_exchange_strong(object, made, std::memory_order_acq_rel)) {
      object = made;
      if (RACY) object->value = 7;  // RACE
    } else {
      delete made;
    }
  }
  use(object->value);  // RACE
}

int main() {
  std::thread one(body), two(body), three(body);
  one.join();
  two.join();
  three.join();
  delete instance.load();
  return 0;
}
