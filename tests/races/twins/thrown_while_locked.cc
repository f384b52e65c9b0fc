// An exception leaves a function before its lock is taken; the handler then changes what it guards.
#include <mutex>
#include <stdexcept>

#include "twin.h"

static std::mutex mutex;
static int balance;

static void withdraw(int amount) {
  if (RACY && amount > 3) throw std::runtime_error("too much");
  const std::lock_guard<std::mutex> lock(mutex);
  balance -= amount;
}

static void* body(void* number) {
  for (int i = 0; i < 6; ++i) {
    try {
      withdraw(i);
    } catch (const std::runtime_error&) {
      balance--;  // RACE
    }
  }
  return number;
}

int main() {
  run_threads(2, body);
  use(balance);
  return 0;
}
