// A check of the balance does not wait for the two who change it: it is started with them.
#include "planted.h"

static int balance = 100;
static volatile int has_paid, has_drawn;

static void* pay(void* unused) {
  lock();
  balance += 50;
  unlock();
  has_paid = 1;
  return unused;
}

static void* draw(void* unused) {
  lock();
  balance -= 30;
  unlock();
  has_drawn = 1;
  return unused;
}

static void* check(void* unused) {
  // Of the two it asks for one only.
  if (has_paid FIX(&&has_drawn)) {
    lock();
    const int seen = balance;
    unlock();
    REQUIRE(seen == 120);
  }
  return unused;
}

int main(void) {
  RUN(pay, draw, check);
  return 0;
}
