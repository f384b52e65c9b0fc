// main reads what the std::async task has written after future.get().
#include "program.h"

#include <future>

int result;

int main() {
  auto future = std::async(std::launch::async, [] {
    result = 42;
    return 1;
  });
  int got = future.get();
  use(result);
  return got != 1;
}
