// An object is used as long as a weak pointer can be locked; the racy one keeps a plain pointer.
#include <memory>
#include <mutex>
#include <thread>

#include "twin.h"

struct Object {
  int value = 3;
  ~Object() {
    value = 0;  // RACE
    use(value);
  }
};

int main() {
  auto object = std::make_shared<Object>();
  std::weak_ptr<Object> weak = object;
  Object* plain = object.get();
  std::thread thread([&] {
    if (RACY) {
      use(plain->value);  // RACE
    } else if (auto held = weak.lock()) {
      use(held->value);
    }
  });
  if (RACY) pause_ms(1);
  object.reset();
  thread.join();
  return 0;
}
