// shared_ptr and weak_ptr copies spread over threads destroy their object once, after the last of
// them has gone.
#include "program.h"

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#pragma GCC diagnostic ignored \
    "-Wdeprecated-declarations"  // atomic_load of a shared_ptr: programs still call it

static int destroyed;

struct Counted {
  ~Counted() {
    CHECK_EQ(value, 7);
    ++destroyed;
  }
  int value = 7;
};

int main(int argc, char** argv) {
  int threads = argument(argc, argv, 1, 4);
  std::weak_ptr<Counted> watch;
  std::shared_ptr<int> published = std::make_shared<int>(0);
  {
    std::vector<std::thread> running;
    auto object = std::make_shared<Counted>();
    watch = object;
    for (int i = 0; i < threads; ++i) {
      running.emplace_back([object, &published, watch, i]() mutable {
        std::vector<std::shared_ptr<Counted>> copies;
        for (int k = 0; k < 30; ++k) {
          copies.push_back(k % 2 ? object : watch.lock());
          CHECK_EQ(copies.back()->value, 7);
          auto now = std::atomic_load(&published);
          CHECK(*now % 1000 < 30);
          std::atomic_store(&published, std::make_shared<int>(1000 * i + k));
        }
        CHECK_EQ(destroyed, 0);
        object.reset();
      });
    }
    object.reset();
    for (auto& thread : running) thread.join();
  }
  CHECK_EQ(destroyed, 1);
  CHECK(watch.expired());
  CHECK_EQ(published.use_count(), 1);
  std::printf("destroyed %d\n", destroyed);
}
