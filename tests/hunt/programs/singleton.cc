// A singleton whose pointer is stored, inside the lock, before the object is filled.
#include <atomic>
#include <mutex>
#include <thread>

#include "planted.h"

struct Registry {
  std::atomic<int> size{0};
  void fill() { size = 3; }
};
static Registry storage;
static std::atomic<Registry*> instance{nullptr};
static std::mutex mutex;

static Registry& registry() {
  if (Registry* const now = instance.load()) return *now;
  std::lock_guard<std::mutex> guard(mutex);
  if (!instance.load()) {
    BUG(instance.store(&storage);)
    storage.fill();
    FIX(instance.store(&storage);)
  }
  return *instance.load();
}

static void use() { REQUIRE(registry().size == 3); }

int main() {
  std::thread a(use), b(use);
  a.join();
  b.join();
  return 0;
}
