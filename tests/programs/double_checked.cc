// Double-checked locking with acquire and release builds its object once, and everybody sees it
// complete.
#include "program.h"

#include <atomic>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

struct Table {
  std::vector<std::string> words;
};

static std::atomic<Table*> instance{nullptr};
static std::mutex lock;
static int built;

static Table& table() {
  Table* found = instance.load(std::memory_order_acquire);
  if (!found) {
    std::lock_guard guard(lock);
    found = instance.load(std::memory_order_relaxed);
    if (!found) {
      found = new Table;
      for (int i = 0; i < 200; ++i) found->words.push_back("word " + std::to_string(i));
      ++built;
      instance.store(found, std::memory_order_release);
    }
  }
  return *found;
}

int main(int argc, char** argv) {
  std::vector<std::thread> running;
  for (int i = 0; i < argument(argc, argv, 1, 4); ++i) {
    running.emplace_back([i] {
      for (int k = 0; k < 100; ++k)
        CHECK(table().words.at((i * 7 + k) % 200) == "word " + std::to_string((i * 7 + k) % 200));
    });
  }
  for (auto& thread : running) thread.join();
  CHECK_EQ(built, 1);
  delete instance.load();
  std::printf("built %d\n", built);
}
