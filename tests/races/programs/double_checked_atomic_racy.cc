// The pointer of the double check is atomic but loaded and stored relaxed, so that the object's contents race.
#include "program.h"

#include <atomic>
#include <mutex>
#include <thread>

struct Service {
  int answer;
};
Service storage;
std::atomic<Service*> instance{nullptr};
std::mutex mutex;
constexpr auto kLoad = std::memory_order_relaxed, kStore = std::memory_order_relaxed;

static Service* get() {
  Service* service = instance.load(kLoad);
  if (service) return service;
  std::lock_guard<std::mutex> lock(mutex);
  if (!instance.load(std::memory_order_relaxed)) {
    storage.answer = 42;  // RACE
    instance.store(&storage, kStore);
  }
  return &storage;
}

int main() {
  std::thread one([] { use(get()->answer); });  // RACE
  std::thread two([] {
    while (!instance.load(std::memory_order_relaxed)) usleep(100);
    for (int i = 0; i < 30; ++i) use(get()->answer);  // RACE
  });
  one.join();
  two.join();
  return 0;
}
