// Two accounts are locked together by std::scoped_lock; the racy one locks one of them twice over.
#include "twin.h"

#include <mutex>

struct Account {
  std::mutex mutex;
  int sum = 10;
};
static Account a, b, c, d;

static void move(Account& from, Account& to, std::mutex& second) {
  std::scoped_lock lock(from.mutex, second);
  from.sum -= 1;  // RACE
  to.sum += 1;    // RACE
}

static void* one(void*) {
  for (int i = 0; i < 5; ++i) move(a, b, RACY ? c.mutex : b.mutex);
  return nullptr;
}

static void* two(void*) {
  for (int i = 0; i < 5; ++i) move(b, a, RACY ? d.mutex : a.mutex);
  return nullptr;
}

int main() {
  run_two(one, two);
  use(a.sum + b.sum);
  return 0;
}
