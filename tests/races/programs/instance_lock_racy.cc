// Each object locks its own mutex to change a static member that all objects share.
#include "program.h"

#include <mutex>
#include <thread>

struct Account {
  void add(int amount) {
    std::lock_guard<std::mutex> lock(mutex);
    total += amount;  // RACE
  }
  std::mutex mutex;
  static long total;
};
long Account::total;

int main() {
  Account first, second;
  std::thread one([&] {
    for (int i = 0; i < 300; ++i) first.add(i);
  });
  std::thread two([&] {
    for (int i = 0; i < 300; ++i) second.add(i);
  });
  one.join();
  two.join();
  return Account::total > 0 ? 0 : 1;
}
