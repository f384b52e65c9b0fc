// A generator goes from one thread to another by a join, or is resumed by two.
#include <coroutine>
#include <mutex>
#include <thread>

#include "twin.h"

struct Steps {
  struct promise_type {
    int value = 0;
    Steps get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    std::suspend_always yield_value(int next) {
      value = next;  // RACE
      return {};
    }
    void return_void() {}
    void unhandled_exception() {}
  };
  std::coroutine_handle<promise_type> handle;
};

static Steps steps() {
  for (int i = 0; i < 100; ++i) co_yield i;
}

int main() {
  Steps all = steps();
  std::mutex mutex;
  auto body = [&] {
    for (int i = 0; i < 8; ++i) {
      std::scoped_lock lock(mutex);
      all.handle.resume();
    }
    if (RACY) use(all.handle.promise().value);  // RACE
  };
  std::thread one(body), two(body);
  one.join();
  two.join();
  all.handle.destroy();
  return 0;
}
