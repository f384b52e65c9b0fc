// Two packaged_tasks in two threads return their results by futures.
#include "program.h"

#include <future>
#include <thread>

static int square(int number) { return number * number; }

int main() {
  std::packaged_task<int(int)> first(square), second(square);
  auto one = first.get_future(), two = second.get_future();
  std::thread runs_first(std::move(first), 3), runs_second(std::move(second), 4);
  int sum = one.get() + two.get();
  runs_first.join();
  runs_second.join();
  return sum != 25;
}
