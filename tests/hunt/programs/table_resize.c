// A hash table grows while another thread reads: it has the new number of places, and the old
// places.
#include "planted.h"

static int small[4], large[16];
static int* volatile places = small;
static volatile unsigned size = 4;

static void* grow(void* unused) {
  for (int i = 0; i < 4; i++) large[(i * 5) % 16] = small[i];
  FIX(lock();)
  size = 16;
  places = large;
  FIX(unlock();)
  return unused;
}

static void* look_up(void* unused) {
  for (unsigned hash = 5; hash < 20; hash += 5) {
    FIX(lock();)
    const int* from = places;
    const unsigned index = hash % size;
    FIX(unlock();)
    REQUIRE(from == large || index < 4);
  }
  return unused;
}

int main(void) {
  RUN(grow, look_up);
  return 0;
}
