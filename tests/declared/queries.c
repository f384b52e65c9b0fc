#include "threads.h"
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int expect(const void *object, enum weir_policy policy) { return weir_policy_of(object) == (weir_active() ? (int)policy : -1); }
int main(void) {
  int plain, *object = (int *)weir_alloc(4 * sizeof *object, WEIR_UNTOUCHED);
  if (weir_policy_of(&plain) != -1 || !expect(object, WEIR_UNTOUCHED)) return 1;
  weir_acquire_write(object + 3);
  if (!expect(object + 1, WEIR_PRIVATE)) return 2;
  weir_acquire_read(object);
  if (!expect(object, WEIR_READ_SHARED)) return 3;
  weir_release_read(object);
  if (!expect(object, WEIR_INACCESSIBLE)) return 4;
  weir_set_locked(object, &lock);
  if (!expect(object, WEIR_LOCKED)) return 5;
  weir_set_sticky_read(object);
  if (!expect(object, WEIR_STICKY_READ)) return 6;
  return ok();
}
