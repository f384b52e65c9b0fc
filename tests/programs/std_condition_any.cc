// std::condition_variable_any works over any lock, also a shared one, and both kinds of variables
// time out.
#include "program.h"

#include <condition_variable>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <vector>

using namespace std::chrono_literals;

int main(int argc, char** argv) {
  int threads = argument(argc, argv, 1, 4);
  std::shared_mutex lock;
  std::condition_variable_any changed;
  int generation = 0, seen[kMaxThreads] = {};
  std::vector<std::thread> readers;
  for (int i = 0; i < threads; ++i) {
    readers.emplace_back([&, i] {
      std::shared_lock guard(lock);
      changed.wait(guard, [&] { return generation == 1; });
      seen[i] = generation;
    });
  }
  {
    std::unique_lock guard(lock);
    generation = 1;
  }
  changed.notify_all();
  for (auto& reader : readers) reader.join();
  for (int i = 0; i < threads; ++i) CHECK_EQ(seen[i], 1);

  std::unique_lock guard(lock);
  CHECK(!changed.wait_for(guard, 10ms, [] { return false; }));
  std::mutex plain;
  std::condition_variable never;
  std::unique_lock plain_guard(plain);
  auto limit = std::chrono::steady_clock::now() + 10ms;
  while (never.wait_until(plain_guard, limit) == std::cv_status::no_timeout) {}
  CHECK(std::chrono::steady_clock::now() >= limit);
  CHECK(plain_guard.owns_lock());
  std::thread signaller([&] {
    std::unique_lock inner(plain);
    generation = 2;
    std::notify_all_at_thread_exit(never, std::move(inner));
  });
  never.wait(plain_guard, [&] { return generation == 2; });
  signaller.join();
  std::printf("generation %d\n", generation);
}
