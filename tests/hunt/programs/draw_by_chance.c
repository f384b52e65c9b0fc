// rand() decides how much each takes; the pot is looked at before it is locked.
#include "planted.h"

static int pot = 20;

static void* draw(void* unused) {
  for (int i = 0; i < 4; i++) {
    const int wanted = 1 + rand() % 5;
    FIX(lock();)
    if (__atomic_load_n(&pot, __ATOMIC_RELAXED) >= wanted) {
      BUG(lock();)
      __atomic_store_n(&pot, pot - wanted, __ATOMIC_RELAXED);
      REQUIRE(pot >= 0);
      BUG(unlock();)
    }
    FIX(unlock();)
  }
  return unused;
}

int main(void) {
  srand(1);
  RUN(draw, draw, draw);
  return 0;
}
