// main changes its local variable before it starts its first thread and after it has joined it.
#include "program.h"

#include <thread>

int main() {
  long local = 1;
  std::thread thread([&] {
    pause_ms(20);
    local++;
  });
  pause_ms(40);
  thread.join();
  local++;
  return local > 9;
}
