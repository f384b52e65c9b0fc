// main reads the rounds of a jthread after it has asked it to stop: asking is not joining.
#include "program.h"

#include <stop_token>
#include <thread>

long rounds;

int main() {
  {
    std::jthread worker([](std::stop_token stop) {
      do {
        ++rounds;  // RACE
        usleep(100);
      } while (!stop.stop_requested());
    });
    pause_ms(2);
    worker.request_stop();
    use(rounds);  // RACE
  }
  return rounds == 0;
}
