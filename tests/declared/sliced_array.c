#include "threads.h"
static const size_t kCount = 10000, kSlices = 4, kPer = 2500;
static struct weir_array *array;
static void *use(void *argument) {
  const size_t from = (size_t)argument * kPer, end = from + kPer < kCount ? from + kPer : kCount;
  size_t i;
  weir_acquire_write(weir_array_at(array, from));
  for (i = from; i < end; i++) *(int *)weir_array_at(array, i) = (int)i;
  if (end < kCount) *(int *)weir_array_at(array, end) = (int)end;  /* REPORT policy forbidden access */
  weir_release_write(weir_array_at(array, from));
  return NULL;
}
int main(void) {
  size_t sum = 0;
  size_t i, slice;
  array = weir_array_slice(kCount, sizeof(int), kPer, WEIR_INACCESSIBLE);
  for (slice = 0; slice < kSlices; slice++) alone(use, (void *)slice);
  for (slice = 0; slice < kSlices; slice++) weir_acquire_read(weir_array_at(array, slice * kPer));
  for (i = 0; i < kCount; i++) sum += *(unsigned *)weir_array_at(array, i);
  weir_array_free(array);
  return sum == kCount / 2 * (kCount - 1) ? ok() : 1;
}
