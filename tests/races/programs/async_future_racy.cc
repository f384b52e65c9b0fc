// main reads what the std::async task writes before it has waited for the future.
#include "program.h"

#include <future>

int result;

int main() {
  auto future = std::async(std::launch::async, [] {
    result = 42;  // RACE
    return 1;
  });
  pause_ms(2);
  use(result);  // RACE
  int got = future.get();
  return got != 1;
}
