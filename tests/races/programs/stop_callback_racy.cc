// The stop_callback runs in the thread that asks for the stop, while the worker counts as well.
#include "program.h"

#include <atomic>
#include <stop_token>
#include <thread>

volatile int calls;

int main() {
  std::jthread worker([](std::stop_token stop) {
    std::stop_callback on_stop(stop, [] { calls = calls + 1; });  // RACE
    for (int i = 0; i < 10; ++i) {
      calls = calls + 1;  // RACE
      pause_ms(1);
    }
  });
  pause_ms(4);
  worker.request_stop();
  return 0;
}
