// A reference count is lowered and looked at in two steps: one thread may read it after another has
// freed the object.
#include "planted.h"

struct Object {
  int count, value;
};
static struct Object* object;

static void* release(void* unused) {
  struct Object* const mine = object;
  FIX(const int left = __atomic_sub_fetch(&mine->count, 1, __ATOMIC_SEQ_CST);)
  BUG(__atomic_sub_fetch(&mine->count, 1, __ATOMIC_SEQ_CST);
      const int left = __atomic_load_n(&mine->count, __ATOMIC_SEQ_CST);)
  if (left == 0) free(mine);
  return unused;
}

int main(void) {
  object = malloc(sizeof *object);
  object->count = 2;
  RUN(release, release);
  return 0;
}
