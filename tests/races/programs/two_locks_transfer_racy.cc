// A transfer locks only the account that gives.
#include "program.h"

#include <algorithm>
#include <mutex>
#include <thread>

struct Account {
  std::mutex mutex;
  long balance = 1000;
} accounts[3];

static void transfer(int from, int to) {
  std::lock_guard<std::mutex> lock(accounts[from].mutex);
  accounts[from].balance -= 1;  // RACE
  accounts[to].balance += 1;    // RACE
}

int main() {
  std::thread one([] {
    for (int i = 0; i < 100; ++i) transfer(0, 2);
  });
  std::thread two([] {
    for (int i = 0; i < 100; ++i) transfer(1, 2);
  });
  one.join();
  two.join();
  return 0;
}
