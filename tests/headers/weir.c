/* Every function and macro of weir/weir.h, in C and in C++, as a program with all warnings has them
 * (run.py). */
#include "weir/weir.h"

struct cell {
  int value;
};

WEIR_PAGES static struct cell counter;
WEIR_OBJECT(counter, WEIR_UNTOUCHED);

int use_weir(const void* lock);
int use_weir(const void* lock) {
  static const size_t ends[2] = {3, 10};
  struct cell* object = (struct cell*)weir_alloc(sizeof *object, WEIR_PRIVATE);
  struct weir_array* slices = weir_array_slice(10, sizeof(int), 4, WEIR_LOCKED);
  struct weir_array* split = weir_array_split(10, sizeof(int), WEIR_RACY);
  struct weir_array* at = weir_array_slice_at(10, sizeof(int), ends, 2, WEIR_READ_SHARED);
  if (weir_active() && object != NULL && slices != NULL && split != NULL && at != NULL) {
    weir_object_declare(object, sizeof *object, WEIR_STICKY_READ);
    weir_acquire_write(object);
    object->value = weir_policy_of(object) + (int)weir_array_slice_of(slices, 5);
    weir_release_write(object);
    weir_acquire_read(object);
    weir_release_read(object);
    weir_set_locked(object, lock);
    weir_set_sticky_read(object);
    weir_set_racy(object);
    *(int*)weir_array_at(at, 4) = *(int*)weir_array_at(split, 2);
    weir_object_forget(object);
  }
  counter.value++;
  weir_array_free(slices);
  weir_array_free(split);
  weir_array_free(at);
  weir_free(object);
  return WEIR_VERSION_MAJOR + WEIR_VERSION_MINOR + counter.value;
}
