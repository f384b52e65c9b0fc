// Tiles of a loop overlap by one element in the racy program.
#include "twin.h"

static int out[130];

int main(void) {
#pragma omp parallel for num_threads(3) schedule(static, 1)
  for (int tile = 0; tile < 16; ++tile)
    for (int i = tile * 8; i < tile * 8 + 8 + RACY; ++i) out[i] = i * tile;  // RACE
  use(out[64]);
  return 0;
}
