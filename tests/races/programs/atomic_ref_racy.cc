// One thread adds by std::atomic_ref, the other adds to the plain object itself.
#include "program.h"

#include <atomic>
#include <thread>

long total;

int main() {
  std::thread one([] {
    for (int i = 0; i < 100; ++i) std::atomic_ref<long>(total).fetch_add(i);  // RACE
  });
  std::thread two([] {
    for (int i = 0; i < 100; ++i) {
      total += i;  // RACE
      use(i);
    }
  });
  one.join();
  two.join();
  return total == 0;
}
