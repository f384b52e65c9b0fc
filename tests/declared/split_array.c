#include "threads.h"
static struct weir_array *array;
static void *use(void *argument) {
  const size_t from = (size_t)argument;
  size_t i;
  for (i = from; i < 100; i += 2) {
    weir_acquire_write(weir_array_at(array, i));
    *(long *)weir_array_at(array, i) = (long)i;
    weir_release_write(weir_array_at(array, i));
  }
  *(long *)weir_array_at(array, 50) = 50;  /* REPORT policy forbidden access */
  return NULL;
}
int main(void) {
  long sum = 0;
  size_t i;
  array = weir_array_split(100, sizeof(long), WEIR_INACCESSIBLE);
  alone(use, (void *)0);
  alone(use, (void *)1);
  for (i = 0; i < 100; i++) {
    weir_acquire_read(weir_array_at(array, i));
    sum += *(long *)weir_array_at(array, i);
    weir_release_read(weir_array_at(array, i));
  }
  weir_array_free(array);
  return sum == 4950 ? ok() : 1;
}
