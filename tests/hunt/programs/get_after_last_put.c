// Takes a reference to what it has found in a table; the last reference may have gone between.
#include "planted.h"

struct Object {
  int count;
  volatile int is_alive;
};
static struct Object object = {1, 1};
static struct Object* volatile table = &object;

static void put(struct Object* one) {
  if (__atomic_sub_fetch(&one->count, 1, __ATOMIC_SEQ_CST) == 0) one->is_alive = 0;
}

static void* find_and_use(void* unused) {
  FIX(lock();)
  struct Object* const found = table;
  if (!found) {
    FIX(unlock();)
    return unused;
  }
  __atomic_add_fetch(&found->count, 1, __ATOMIC_SEQ_CST);
  FIX(unlock();)
  REQUIRE(found->is_alive);
  put(found);
  return unused;
}

static void* remove_it(void* unused) {
  FIX(lock();)
  table = NULL;
  FIX(unlock();)
  put(&object);
  return unused;
}

int main(void) {
  RUN(find_and_use, remove_it);
  return 0;
}
