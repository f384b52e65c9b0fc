// The cache is thread_local, but the plain static beside it that says what is in it is shared.
#include "program.h"

#include <string>
#include <thread>

thread_local std::string cache("empty");
int last;

static void body() {
  for (int i = 0; i < 100; ++i) {
    cache.assign(1 + i % 9, 'x');
    last = i;  // RACE
    use(static_cast<long>(cache.size()));
  }
}

int main() {
  std::thread one(body), two(body);
  one.join();
  two.join();
  return 0;
}
