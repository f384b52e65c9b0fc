// What std::async computes is read before its future is asked, or after.
#include "twin.h"

#include <future>
#include <vector>

int main() {
  std::vector<int> squares(8);
  std::future<void> done = std::async(std::launch::async, [&squares] {
    for (int i = 0; i < 8; ++i) squares[i] = i * i;  // RACE
  });
  if (!RACY) done.get();
  long sum = 0;
  for (const int square : squares) sum += square;  // RACE
  use(sum);
  return 0;
}
