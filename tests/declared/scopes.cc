#include <mutex>
#include <string>
#include <thread>
#include <vector>
#include <weir/weir.hpp>

#include "threads.h"

struct Account {
  explicit Account(long start) : balance(start) {}
  long balance;
};

int main() {
  static std::mutex mutex;
  auto account = weir::object<Account>::locked_by(mutex, 100);
  weir::object<Account> shared(WEIR_INACCESSIBLE, 5), stolen(WEIR_PRIVATE, 7);
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; i++) {
    threads.emplace_back([&] {
      for (int k = 0; k < 100; k++) {
        const std::lock_guard<std::mutex> guard(mutex);
        account->balance++;
        const weir::write_access access(*shared);
        shared->balance++;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::thread([&] {
    const weir::read_access access(*shared);
    if (shared->balance != 305) exit(4);
    stolen->balance = 0;  // REPORT policy forbidden access
  }).join();
  std::thread([&] {
    account->balance = 1;  // REPORT policy lock-not-held access
  }).join();
  weir::sliced_array<int> array(1000, 250, WEIR_UNTOUCHED);
  threads.clear();
  for (size_t slice = 0; slice < 4; slice++) {
    threads.emplace_back([&, slice] {
      const weir::write_access access(array[slice * 250]);
      for (size_t i = slice * 250; i < slice * 250 + 250; i++) array[i] = static_cast<int>(i);
    });
  }
  for (std::thread& thread : threads) thread.join();
  const std::lock_guard<std::mutex> guard(mutex);
  return account->balance == 1 && stolen->balance == 0 ? ok() : 1;
}
