// A latch is counted down before the result is stored.
#include <latch>

#include "twin.h"

static std::latch latch(2);
static int results[2];

static void* body(void* number) {
  const long mine = reinterpret_cast<long>(number);
  if (!RACY) results[mine] = 5;
  latch.count_down();
  if (RACY) results[mine] = 5;  // RACE
  return nullptr;
}

int main() {
  pthread_t one = start(body, nullptr), two = start(body, reinterpret_cast<void*>(1L));
  latch.wait();
  use(results[0] + results[1]);  // RACE
  join(one);
  join(two);
  return 0;
}
