// One thread asks a device for something while another closes it, which frees what it has.
#include "planted.h"

struct Device {
  int level;
};
static struct Device* device;

static void* ask(void* unused) {
  FIX(lock();)
  struct Device* const it = __atomic_load_n(&device, __ATOMIC_SEQ_CST);
  if (it) REQUIRE(it->level == 7);
  FIX(unlock();)
  return unused;
}

static void* close_device(void* unused) {
  FIX(lock();)
  struct Device* const it = __atomic_exchange_n(&device, NULL, __ATOMIC_SEQ_CST);
  free(it);
  FIX(unlock();)
  return unused;
}

int main(void) {
  device = malloc(sizeof *device);
  device->level = 7;
  RUN(ask, close_device, ask);
  return 0;
}
