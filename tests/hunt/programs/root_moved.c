// A collector marks what the roots name, then what fields name, and frees the rest. The mutator
// moves the only reference from a field that is not yet looked at to a root that is.
#include "planted.h"

struct Object {
  struct Object* field;
  int is_marked, is_freed;
};
static struct Object parent, child;
static struct Object* roots[2] = {&parent, NULL};
static struct Object** const field = &parent.field;

static void mark(struct Object* object) {
  if (object) __atomic_store_n(&object->is_marked, 1, __ATOMIC_SEQ_CST);
}

static void* collect(void* unused) {
  FIX(lock();)
  for (int i = 0; i < 2; i++) mark(__atomic_load_n(&roots[i], __ATOMIC_SEQ_CST));
  mark(__atomic_load_n(field, __ATOMIC_SEQ_CST));
  if (!__atomic_load_n(&child.is_marked, __ATOMIC_SEQ_CST))
    __atomic_store_n(&child.is_freed, 1, __ATOMIC_SEQ_CST);
  FIX(unlock();)
  return unused;
}

static void* mutate(void* unused) {
  FIX(lock();)
  struct Object* const moved = __atomic_load_n(field, __ATOMIC_SEQ_CST);
  __atomic_store_n(&roots[1], moved, __ATOMIC_SEQ_CST);
  __atomic_store_n(field, NULL, __ATOMIC_SEQ_CST);
  FIX(unlock();)
  return unused;
}

int main(void) {
  parent.field = &child;
  RUN(mutate, collect);
  REQUIRE(!child.is_freed);
  return 0;
}
