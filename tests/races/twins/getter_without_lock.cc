// The setter locks, the getter does not.
#include <mutex>

#include "twin.h"

class Account {
 public:
  void add(long much) {
    const std::lock_guard<std::mutex> guard(mutex_);
    balance_ += much;  // RACE
  }
  long balance() {
    std::unique_lock<std::mutex> guard(mutex_, std::defer_lock);
    if (!RACY) guard.lock();
    return balance_;  // RACE
  }

 private:
  std::mutex mutex_;
  long balance_ = 0;
};
static Account account;

static void* pay(void*) {
  for (long i = 0; i < 10; ++i) account.add(i);
  return nullptr;
}

static void* look(void*) {
  for (int i = 0; i < 10; ++i) use(account.balance());
  return nullptr;
}

int main() {
  run_two(pay, look);
  return 0;
}
