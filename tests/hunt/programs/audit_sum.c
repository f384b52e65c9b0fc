// An audit adds up accounts one by one while money moves between two it has seen and not seen.
#include "planted.h"

enum { kAccounts = 4 };
static int accounts[kAccounts] = {10, 10, 10, 10};

static void* transfer(void* unused) {
  lock();
  accounts[0] -= 5;
  accounts[3] += 5;
  unlock();
  return unused;
}

static void* audit(void* unused) {
  int sum = 0;
  FIX(lock();)
  for (int i = 0; i < kAccounts; i++) {
    BUG(lock();)
    sum += accounts[i];
    BUG(unlock();)
  }
  FIX(unlock();)
  REQUIRE(sum == 40);
  return unused;
}

int main(void) {
  RUN(transfer, audit);
  return 0;
}
