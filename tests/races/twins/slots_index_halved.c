// Each thread has a cell of its own in an array on the heap; in the racy program two share one.
#include "twin.h"

int* slots;

static void* body(void* argument) {
  long i = (long)argument;
  if (RACY) i /= 2;
  slots[i] = 3;  // RACE
  return NULL;
}

int main(void) {
  slots = (int*)malloc(4 * sizeof(int));
  run_threads(4, body);
  free(slots);
  return 0;
}
