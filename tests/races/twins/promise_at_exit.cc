// A value that is ready at the thread's end comes after all that the thread has written.
#include "twin.h"

#include <future>
#include <thread>

static int last;

int main() {
  std::promise<int> promise;
  std::future<int> future = promise.get_future();
  std::thread thread([moved = std::move(promise)]() mutable {
    if (RACY) moved.set_value(1);
    else moved.set_value_at_thread_exit(1);
    pause_ms(10);
    last = 2;  // RACE
  });
  use(future.get());
  use(last);  // RACE
  thread.join();
  return 0;
}
