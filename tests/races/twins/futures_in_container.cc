// Several asynchronous tasks add to one sum, or return their parts.
#include <future>
#include <vector>

#include "twin.h"

int main() {
  long sum = 0;
  std::vector<std::future<long>> parts;
  for (long i = 0; i < 4; ++i) {
    parts.push_back(std::async(std::launch::async, [&sum, i] {
      if (RACY) sum += i;  // RACE
      return i;
    }));
  }
  long all = 0;
  for (auto& part : parts) all += part.get();
  use(sum + all);
  return 0;
}
