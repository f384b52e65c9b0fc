// Locks two accounts in the order of the arguments.
#include <mutex>
#include <thread>

#include "planted.h"

struct Account {
  std::mutex mutex;
  int balance = 10;
};

static void transfer(Account& from, Account& to) {
#ifdef FIXED
  std::scoped_lock both(from.mutex, to.mutex);
#else
  std::lock_guard<std::mutex> first(from.mutex);
  std::lock_guard<std::mutex> second(to.mutex);
#endif
  from.balance--;
  to.balance++;
}

int main() {
  Account a, b;
  std::thread one([&] { transfer(a, b); }), two([&] { transfer(b, a); });
  one.join();
  two.join();
  REQUIRE(a.balance == 10 && b.balance == 10);
  return 0;
}
