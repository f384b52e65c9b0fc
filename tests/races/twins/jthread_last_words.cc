// A std::jthread counts until it is stopped; the count is read after the request, or the join.
#include "twin.h"

#include <thread>

static long rounds;

int main() {
  std::jthread worker([](std::stop_token token) {
    while (!token.stop_requested()) {
      rounds += 1;  // RACE
      pause_ms(1);
    }
    rounds += 1;  // RACE
  });
  pause_ms(5);
  worker.request_stop();
  if (!RACY) worker.join();
  use(rounds);  // RACE
  return 0;
}
