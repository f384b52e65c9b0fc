// call_once with one once_flag for all.
#include "program.h"

#include <mutex>
#include <thread>

std::once_flag once;
int value;

static void body() {
  std::call_once(once, [] { value = 42; });
  use(value);
}

int main() {
  std::thread one(body), two(body), three(body);
  one.join();
  two.join();
  three.join();
  return value != 42;
}
