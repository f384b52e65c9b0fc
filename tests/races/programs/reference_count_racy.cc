// The reference count is decremented relaxed: what the last one deletes is not ordered after the others' last writes.
#include "program.h"

#include <atomic>
#include <thread>

struct Object {
  std::atomic<int> references{2};
  int values[2] = {0, 0};
};
constexpr auto kDrop = std::memory_order_relaxed;

static void drop(Object* object) {
  if (object->references.fetch_sub(1, kDrop) != 1) return;
  use(object->values[0] + object->values[1]);  // RACE
  delete object;                               // RACE
}

int main() {
  Object* object = new Object;
  auto body = [object](int number) {
    object->values[number] = 1;  // RACE
    drop(object);
  };
  std::thread one(body, 0), two(body, 1);
  one.join();
  two.join();
  return 0;
}
