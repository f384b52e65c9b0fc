// Reads a balance in one critical section and writes it in another: no data race, and yet an update
// is lost.
#include "planted.h"

static int balance = 100;

static void* withdraw(void* unused) {
  lock();
  const int read = balance;
  BUG(unlock(); lock();)
  balance = read - 10;
  unlock();
  return unused;
}

int main(void) {
  RUN(withdraw, withdraw, withdraw);
  REQUIRE(balance == 70);
  return 0;
}
