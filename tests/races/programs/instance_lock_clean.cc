// The static member that all objects share has a static mutex.
#include "program.h"

#include <mutex>
#include <thread>

struct Account {
  void add(int amount) {
    std::lock_guard<std::mutex> lock(total_mutex);
    total += amount;
  }
  static std::mutex total_mutex;
  static long total;
};
long Account::total;
std::mutex Account::total_mutex;

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
