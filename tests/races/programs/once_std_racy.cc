// call_once with a once_flag of each thread's own: both of them initialize.
#include "program.h"

#include <mutex>
#include <thread>

int value;

static void body() {
  std::once_flag once;
  std::call_once(once, [] { value = 42; });  // RACE
  use(value);                                // RACE
}

int main() {
  std::thread one(body), two(body), three(body);
  one.join();
  two.join();
  three.join();
  return value != 42;
}
