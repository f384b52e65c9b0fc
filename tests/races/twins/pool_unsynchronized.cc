// Two threads take memory from a resource that is not synchronized, or one that is.
#include "twin.h"

#include <memory_resource>

#if RACY
static std::pmr::unsynchronized_pool_resource pool;
#else
static std::pmr::synchronized_pool_resource pool;
#endif

static void* body(void* number) {
  pause_ms(5 * (int)(long)number);
  for (int i = 0; i < 4; ++i) {
    void* block = pool.allocate(24, 8);  // RACE
    use((long)block);
    pool.deallocate(block, 24, 8);  // RACE
  }
  return nullptr;
}

int main() {
  run_threads(2, body);
  return 0;
}
