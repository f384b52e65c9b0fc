// The reference count is decremented with acq_rel: who brings it to zero deletes after all the others' last uses.
#include "program.h"

#include <atomic>
#include <thread>

struct Object {
  std::atomic<int> references{2};
  int values[2] = {0, 0};
};
constexpr auto kDrop = std::memory_order_acq_rel;

static void drop(Object* object) {
  if (object->references.fetch_sub(1, kDrop) != 1) return;
  use(object->values[0] + object->values[1]);
  delete object;
}

int main() {
  Object* object = new Object;
  auto body = [object](int number) {
    object->values[number] = 1;
    drop(object);
  };
  std::thread one(body, 0), two(body, 1);
  one.join();
  two.join();
  return 0;
}
