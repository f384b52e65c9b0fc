// An exception that leaves a thread's function ends the whole program by abort.
#include "program.h"

#include <stdexcept>
#include <thread>

int main() {
  std::printf("before\n");
  std::fflush(stdout);
  std::thread thread([] { throw std::runtime_error("nobody catches this"); });
  thread.join();
  std::printf("not reached\n");
}
