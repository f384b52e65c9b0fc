// The place in a text is taken in an ordered region, and moved on outside of it.
#include "twin.h"

static char text[64];
static int place;

int main(void) {
#pragma omp parallel for ordered num_threads(3) schedule(static, 1)
  for (int i = 0; i < 40; ++i) {
#pragma omp ordered
    {
      text[place] = (char)('a' + i % 26);  // RACE
      if (!RACY) place++;
    }
    if (RACY) place++;  // RACE
  }
  use(text[5]);
  return 0;
}
