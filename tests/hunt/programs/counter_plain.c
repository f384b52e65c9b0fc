// Five threads count, each ten times, by one instruction that is not locked.
#include "planted.h"

static int counter;

static void* count(void* unused) {
  for (int i = 0; i < 10; i++) {
    FIX(lock();)
    __asm__ volatile("addl $1,%0" : "+m"(counter));
    FIX(unlock();)
  }
  return unused;
}

int main(void) {
  run_many(5, count, 0, NULL);
  REQUIRE(counter == 50);
  return 0;
}
