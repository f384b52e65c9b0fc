// A coroutine is resumed by a thread while its maker reads the value that it yields.
#include <coroutine>

#include "twin.h"

struct Numbers {
  struct promise_type {
    int value = 0;
    Numbers get_return_object() {
      return {std::coroutine_handle<promise_type>::from_promise(*this)};
    }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    std::suspend_always yield_value(int next) {
      value = next;  // RACE
      return {};
    }
    void return_void() {}
    void unhandled_exception() { abort(); }
  };
  std::coroutine_handle<promise_type> handle;
};

static Numbers count() {
  for (int i = 1; i < 4; ++i) co_yield i;
}

static Numbers numbers = count();

static void* resume(void* unused) {
  numbers.handle.resume();
  numbers.handle.resume();
  return unused;
}

int main() {
  const pthread_t thread = start(resume, nullptr);
  if (!RACY) join(thread);
  use(numbers.handle.promise().value);  // RACE
  if (RACY) join(thread);
  numbers.handle.destroy();
  return 0;
}
