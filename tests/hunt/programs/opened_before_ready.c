// A device is in the table before its operations are set: who opens it calls a null pointer.
#include "planted.h"

struct Device {
  int (*open)(void);
};
static struct Device the_device;
static struct Device* table[4];

static int opened(void) { return 5; }

static void* probe(void* unused) {
  FIX(__atomic_store_n(&the_device.open, opened, __ATOMIC_SEQ_CST);)
  __atomic_store_n(&table[1], &the_device, __ATOMIC_SEQ_CST);
  BUG(__atomic_store_n(&the_device.open, opened, __ATOMIC_SEQ_CST);)
  return unused;
}

static void* open_all(void* unused) {
  for (int i = 0; i < 4; i++) {
    struct Device* const device = __atomic_load_n(&table[i], __ATOMIC_SEQ_CST);
    if (device) REQUIRE(__atomic_load_n(&device->open, __ATOMIC_SEQ_CST)() == 5);
  }
  return unused;
}

int main(void) {
  RUN(probe, open_all);
  return 0;
}
