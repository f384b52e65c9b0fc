// Both threads add by std::atomic_ref to a plain object.
#include "program.h"

#include <atomic>
#include <thread>

long total;

int main() {
  std::thread one([] {
    for (int i = 0; i < 100; ++i) std::atomic_ref<long>(total).fetch_add(i);
  });
  std::thread two([] {
    for (int i = 0; i < 100; ++i) {
      std::atomic_ref<long>(total).fetch_add(i);
      use(i);
    }
  });
  one.join();
  two.join();
  return total == 0;
}
