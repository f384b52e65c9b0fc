// The promise is kept before the data beside it are written.
#include "program.h"

#include <future>
#include <thread>

int data[4];

int main() {
  std::promise<int> promise;
  std::future<int> future = promise.get_future();
  std::thread keeper([&] {
    pause_ms(1);
    promise.set_value(7);
    for (int i = 0; i < 4; ++i) data[i] = i;  // RACE
  });
  int got = future.get();
  use(data[2]);  // RACE
  keeper.join();
  return got != 7;
}
