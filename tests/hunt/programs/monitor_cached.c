// Monitors are found by address in a cache and recycled when nobody is in: who has found one and
// is about to enter it is not counted.
#include "planted.h"

struct Monitor {
  void* volatile address;
  volatile int entries;
  volatile long owner;
};
static struct Monitor only;
static int first, second;

static struct Monitor* enter(void* address, long me) {
  for (;;) {
    lock();
    if (only.entries == 0) only.address = address;
    const int is_mine = only.address == address && only.entries == 0;
    FIX(if (is_mine) only.entries = 1;)
    unlock();
    if (!is_mine) {
      usleep(10);
      continue;
    }
    BUG(lock();)
    BUG(only.entries = 1;)
    BUG(unlock();)
    only.owner = me;
    return &only;
  }
}

static void leave(struct Monitor* monitor, void* address, long me) {
  REQUIRE(monitor->address == address && monitor->owner == me);
  lock();
  monitor->entries = 0;
  unlock();
}

static void* use_first(void* number) {
  leave(enter(&first, (long)number), &first, (long)number);
  return NULL;
}
static void* use_second(void* number) {
  leave(enter(&second, (long)number), &second, (long)number);
  return NULL;
}

int main(void) {
  RUN(use_first, use_second);
  return 0;
}
