// Both the cache and what says what is in it are thread_local, with a constructor of their own.
#include "program.h"

#include <string>
#include <thread>

thread_local std::string cache("empty");
thread_local int last;

static void body() {
  for (int i = 0; i < 100; ++i) {
    cache.assign(1 + i % 9, 'x');
    last = i;
    use(static_cast<long>(cache.size()));
  }
}

int main() {
  std::thread one(body), two(body);
  one.join();
  two.join();
  return 0;
}
