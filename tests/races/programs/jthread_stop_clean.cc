// main reads the rounds of a jthread after the jthread's destructor has asked it to stop and joined it.
#include "program.h"

#include <stop_token>
#include <thread>

long rounds;

int main() {
  {
    std::jthread worker([](std::stop_token stop) {
      do {
        ++rounds;
        usleep(100);
      } while (!stop.stop_requested());
    });
    pause_ms(2);
  }
  return rounds == 0;
}
