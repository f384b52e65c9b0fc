// A barrier's completion function sums up; the racy thread asks for the sum before it has waited.
#include "twin.h"

#include <barrier>

static int parts[2], total;
static void sum() noexcept { total = parts[0] + parts[1]; }  // RACE
static std::barrier<void (*)() noexcept> barrier(2, sum);

static void* body(void* number) {
  parts[(long)number] = 3;
  auto token = barrier.arrive();
  if (RACY) {
    pause_ms(10);
    use(total);  // RACE
    barrier.wait(std::move(token));
  } else {
    barrier.wait(std::move(token));
    use(total);
  }
  return nullptr;
}

int main() {
  run_threads(2, body);
  return 0;
}
