// Exceptions are thrown and caught in many threads at once, carried by exception_ptr, and unwind
// their own stacks only.
#include "program.h"

#include <exception>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

struct Guard {
  long* count;
  ~Guard() { ++*count; }
};

static void thrower(int depth, int value, long* unwound) {
  Guard guard{unwound};
  if (depth == 0) throw std::runtime_error(std::to_string(value));
  thrower(depth - 1, value, unwound);
}

int main(int argc, char** argv) {
  int threads = argument(argc, argv, 1, 4);
  std::vector<std::exception_ptr> carried(threads);
  std::vector<std::thread> running;
  for (int i = 0; i < threads; ++i) {
    running.emplace_back([&, i] {
      long unwound = 0;
      for (int k = 0; k < 30; ++k) {
        try {
          thrower(k % 7, i * 100 + k, &unwound);
          CHECK(!"nothing thrown");
        } catch (const std::runtime_error& error) {
          CHECK(error.what() == std::to_string(i * 100 + k));
          CHECK_EQ(std::uncaught_exceptions(), 0);
        }
      }
      CHECK(unwound > 30);
      try {
        throw std::logic_error("from " + std::to_string(i));
      } catch (...) { carried[i] = std::current_exception(); }
    });
  }
  for (auto& thread : running) thread.join();
  for (int i = 0; i < threads; ++i) {
    try {
      std::rethrow_exception(carried[i]);
    } catch (const std::logic_error& error) { CHECK(error.what() == "from " + std::to_string(i)); }
  }
  std::printf("caught %d\n", threads * 30);
}
