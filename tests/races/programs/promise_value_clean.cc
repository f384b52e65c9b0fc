// The promise is kept after the data beside it are written.
#include "program.h"

#include <future>
#include <thread>

int data[4];

int main() {
  std::promise<int> promise;
  std::future<int> future = promise.get_future();
  std::thread keeper([&] {
    pause_ms(1);
    for (int i = 0; i < 4; ++i) data[i] = i;
    promise.set_value(7);
  });
  int got = future.get();
  use(data[2]);
  keeper.join();
  return got != 7;
}
