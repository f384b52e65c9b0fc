// A bump allocator advances an atomic offset: each thread writes what it alone has got.
#include "program.h"

#include <atomic>
#include <cstddef>
#include <thread>

alignas(64) char arena[8192];
std::atomic<size_t> used{0};

static char* allocate(size_t size) {
  size_t at = used.fetch_add(size, std::memory_order_relaxed);
  return arena + at;
}

static void body() {
  for (int i = 0; i < 100; ++i) {
    char* block = allocate(24);
    for (int j = 0; j < 24; ++j) block[j] = static_cast<char>(i);
  }
}

int main() {
  std::thread one(body), two(body);
  one.join();
  two.join();
  return used == 0;
}
