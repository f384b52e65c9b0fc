// Entries of a log are reserved by an atomic index; the racy dumper reads those that are not filled in.
#include "twin.h"

enum { kEntries = 32 };
static struct {
  int filled, what;
} entries[kEntries];
static int next;

static void* writer(void* unused) {
  for (int i = 0; i < 8; ++i) {
    const int at = __atomic_fetch_add(&next, 1, __ATOMIC_ACQ_REL);
    pause_ms(1);
    entries[at].what = i;  // RACE
    __atomic_store_n(&entries[at].filled, 1, __ATOMIC_RELEASE);
  }
  return unused;
}

static void* dumper(void* unused) {
  for (int round = 0; round < 12; ++round) {
    const int all = __atomic_load_n(&next, __ATOMIC_ACQUIRE);
    for (int i = 0; i < all; ++i)
      if (RACY || __atomic_load_n(&entries[i].filled, __ATOMIC_ACQUIRE)) use(entries[i].what);  // RACE
    pause_ms(1);
  }
  return unused;
}

int main(void) {
  pthread_t threads[3];
  for (int i = 0; i < 3; ++i) threads[i] = start(i < 2 ? writer : dumper, NULL);
  for (int i = 0; i < 3; ++i) join(threads[i]);
  return 0;
}
