// Whether there is enough money is asked in one critical section, and it is taken in the next.
#include "planted.h"

static int balance = 15;

static void* take_ten(void* unused) {
  lock();
  if (balance >= 10) {
    BUG(unlock(); lock();)
    balance -= 10;
  }
  unlock();
  return unused;
}

int main(void) {
  RUN(take_ten, take_ten);
  REQUIRE(balance >= 0);
  return 0;
}
