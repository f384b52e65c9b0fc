// The index is compared with the limit, then taken: two threads may both take the last place.
#include "planted.h"

enum { kPlaces = 4 };
static uint64_t* places;
static int used;

static void* add(void* unused) {
  for (int i = 0; i < 3; i++) {
    FIX(lock();)
    if (__atomic_load_n(&used, __ATOMIC_SEQ_CST) < kPlaces) {
      const int at = __atomic_fetch_add(&used, 1, __ATOMIC_SEQ_CST);
      places[at] = 1;
    }
    FIX(unlock();)
  }
  return unused;
}

int main(void) {
  places = calloc(kPlaces, sizeof *places);
  RUN(add, add);
  return 0;
}
