// An inline cache keeps an object's shape and the slot of a property; a reader that misses fills
// both, one after the other, while another reads them.
#include "planted.h"

static int shape_now = 1, cached_shape, cached_slot;

static int slot_of(int shape) { return shape * 10; }

static void* read_property(void* unused) {
  for (int i = 0; i < 2; i++) {
    FIX(lock();)
    const int shape = __atomic_load_n(&shape_now, __ATOMIC_SEQ_CST);
    int slot;
    if (__atomic_load_n(&cached_shape, __ATOMIC_SEQ_CST) == shape) {
      slot = __atomic_load_n(&cached_slot, __ATOMIC_SEQ_CST);
    } else {
      slot = slot_of(shape);
      __atomic_store_n(&cached_shape, shape, __ATOMIC_SEQ_CST);
      __atomic_store_n(&cached_slot, slot, __ATOMIC_SEQ_CST);
    }
    FIX(unlock();)
    REQUIRE(slot == slot_of(shape));
  }
  return unused;
}

static void* change_shape(void* unused) {
  FIX(lock();)
  __atomic_store_n(&shape_now, 2, __ATOMIC_SEQ_CST);
  FIX(unlock();)
  return unused;
}

int main(void) {
  RUN(read_property, read_property, change_shape);
  return 0;
}
