// main goes on with its local variable after it has started its first thread, which changes it later.
#include "program.h"

#include <thread>

int main() {
  long local = 0;
  std::thread thread([&] {
    pause_ms(20);
    local++;  // RACE
  });
  local++;  // RACE
  pause_ms(40);
  thread.join();
  return local > 9;
}
