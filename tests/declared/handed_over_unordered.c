#include "threads.h"
static void *first(void *argument) {
  soon();
  weir_acquire_write(argument);
  *(int *)argument = 3;
  weir_release_write(argument);  /* IS released */
  return NULL;
}
static void *second(void *argument) {
  later();
  weir_acquire_write(argument);  /* REPORT policy unordered acquire-write OTHER released */
  *(int *)argument = 5;
  weir_release_write(argument);
  return NULL;
}
int main(void) { /* the paper's figure 1 */
  int *object = (int *)weir_alloc(sizeof *object, WEIR_INACCESSIBLE);
  pthread_t a = begin(first, object), b = begin(second, object);
  end(b);
  end(a);
  weir_acquire_write(object);
  return *object == 5 ? ok() : 1;
}
