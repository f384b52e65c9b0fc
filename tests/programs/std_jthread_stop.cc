// std::jthread joins by itself; stop tokens reach loops, callbacks and interruptible condition
// waits.
#include "program.h"

#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

int main(int argc, char** argv) {
  int threads = argument(argc, argv, 1, 4);
  std::mutex lock;
  std::condition_variable_any changed;
  int stopped = 0, started = 0, callbacks = 0;
  {
    std::vector<std::jthread> running;
    for (int i = 0; i < threads; ++i) {
      running.emplace_back([&](std::stop_token token) {
        std::unique_lock guard(lock);
        ++started;
        changed.notify_all();
        bool met = changed.wait(guard, token, [] { return false; });
        CHECK(!met && token.stop_requested());
        ++stopped;
      });
    }
    std::unique_lock guard(lock);
    changed.wait(guard, [&] { return started == threads; });
  }
  CHECK_EQ(stopped, threads);

  std::stop_source source;
  std::jthread spinner([token = source.get_token()] {
    while (!token.stop_requested()) std::this_thread::yield();
  });
  std::stop_callback callback(source.get_token(), [&] { ++callbacks; });
  CHECK(source.request_stop());
  CHECK_EQ(callbacks, 1);
  CHECK(!source.request_stop());
  spinner.join();
  std::printf("stopped %d\n", stopped);
}
