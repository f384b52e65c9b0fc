// A worker ends when it is asked to stop, and stores its result on the way.
#include <stop_token>
#include <thread>

#include "twin.h"

static int result;

int main() {
  std::stop_source source;
  std::thread thread([token = source.get_token()] {
    while (!token.stop_requested()) std::this_thread::yield();
    pause_ms(RACY ? 2 : 0);
    result = 4;  // RACE
  });
  source.request_stop();
  if (!RACY) thread.join();
  use(result);  // RACE
  if (RACY) thread.join();
  return 0;
}
