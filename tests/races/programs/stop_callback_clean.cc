// The stop_callback sets an atomic that the worker looks at.
#include "program.h"

#include <atomic>
#include <stop_token>
#include <thread>

std::atomic<int> calls;

int main() {
  std::jthread worker([](std::stop_token stop) {
    std::stop_callback on_stop(stop, [] { calls = calls + 1; });
    for (int i = 0; i < 10; ++i) {
      calls = calls + 1;
      pause_ms(1);
    }
  });
  pause_ms(4);
  worker.request_stop();
  return 0;
}
