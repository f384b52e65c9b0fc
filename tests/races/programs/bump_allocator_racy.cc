// A bump allocator advances a plain offset: two threads race for it, whatever they get.
#include "program.h"

#include <atomic>
#include <cstddef>
#include <thread>

alignas(64) char arena[8192];
size_t used;

static char* allocate(size_t size) {
  size_t at = used;  // RACE
  used = at + size;  // RACE
  return arena + at;
}

static void body() {
  for (int i = 0; i < 100; ++i) {
    char* block = allocate(24);
    use(reinterpret_cast<long>(block));
  }
}

int main() {
  std::thread one(body), two(body);
  one.join();
  two.join();
  return used == 0;
}
