// Two threads wait for one shared_future and then both change what it points to.
#include "program.h"

#include <future>
#include <thread>

int main() {
  int value = 1;
  std::promise<int*> promise;
  std::shared_future<int*> future = promise.get_future().share();
  auto body = [future] {
    int* seen = future.get();
    *seen += 1;  // RACE
  };
  std::thread one(body), two(body);
  value = 5;
  promise.set_value(&value);
  one.join();
  two.join();
  return value < 5;
}
