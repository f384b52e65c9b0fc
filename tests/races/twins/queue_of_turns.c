// A bounded queue in which each cell has a turn number (Vyukov); racy: the number goes first.
#include "twin.h"

enum { kCells = 8, kItems = 24 };
static struct {
  unsigned turn;
  int value;
} cells[kCells];
static unsigned put_at, take_at;

static void* producer(void* unused) {
  for (int i = 0; i < kItems; ++i) {
    const unsigned at = __atomic_fetch_add(&put_at, 1, __ATOMIC_RELAXED);
    while (__atomic_load_n(&cells[at % kCells].turn, __ATOMIC_ACQUIRE) != at) sched_yield();
    if (!RACY) cells[at % kCells].value = i;
    __atomic_store_n(&cells[at % kCells].turn, at + 1, __ATOMIC_RELEASE);
    if (RACY) cells[at % kCells].value = i;  // RACE
  }
  return unused;
}

static void* consumer(void* unused) {
  for (int i = 0; i < kItems; ++i) {
    const unsigned at = __atomic_fetch_add(&take_at, 1, __ATOMIC_RELAXED);
    while (__atomic_load_n(&cells[at % kCells].turn, __ATOMIC_ACQUIRE) != at + 1) sched_yield();
    use(cells[at % kCells].value);  // RACE
    __atomic_store_n(&cells[at % kCells].turn, at + kCells, __ATOMIC_RELEASE);
  }
  return unused;
}

int main(void) {
  for (unsigned i = 0; i < kCells; ++i) cells[i].turn = i;
  pthread_t threads[4];
  for (int i = 0; i < 4; ++i) threads[i] = start(i % 2 ? producer : consumer, NULL);
  for (int i = 0; i < 4; ++i) join(threads[i]);
  return 0;
}
