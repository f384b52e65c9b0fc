// Each thread fills an array that it has got by its number; the racy one takes its neighbour's last.
#include "twin.h"

static int* arrays[3];

static void* body(void* number) {
  const long me = (long)number;
  for (int i = 0; i < 32; ++i) arrays[me][i] = i;  // RACE
  if (RACY && me == 1) arrays[0][31] = 7;  // RACE
  return NULL;
}

int main(void) {
  for (int i = 0; i < 3; ++i) arrays[i] = calloc(32, sizeof(int));
  run_threads(3, body);
  use(arrays[0][31]);
  return 0;
}
