// A std::atomic<float> that is added to by compare and exchange, beside a plain one.
#include <atomic>
#include <thread>

#include "twin.h"

static std::atomic<float> sum{0};
static float plain;

int main() {
  auto body = [] {
    for (int i = 0; i < 20; ++i) {
      if (RACY) plain += 1.0F;  // RACE
      else sum.fetch_add(1.0F);
    }
  };
  std::thread one(body), two(body);
  one.join();
  two.join();
  use(static_cast<long>(sum + plain));
  return 0;
}
