#include "threads.h"
static const size_t ends[] = {10, 10, 4000, 4001, 9000};
static struct weir_array *array;
static void *use(void *argument) {
  size_t i;
  (void)argument;
  weir_acquire_write(weir_array_at(array, 10));
  for (i = 10; i < 4000; i++) *(double *)weir_array_at(array, i) = 1;
  *(double *)weir_array_at(array, 4000) = 2;  /* REPORT policy forbidden access */
  return NULL;
}
int main(void) {
  array = weir_array_slice_at(9000, sizeof(double), ends, 5, WEIR_UNTOUCHED);
  if (weir_array_slice_of(array, 9) != 0 || weir_array_slice_of(array, 10) != 2 || weir_array_slice_of(array, 4000) != 3 ||
      weir_array_slice_of(array, 8999) != 4) {
    return 1;
  }
  weir_acquire_write(weir_array_at(array, 4000));
  alone(use, NULL);
  return *(double *)weir_array_at(array, 4000) == 2 ? ok() : 1;
}
