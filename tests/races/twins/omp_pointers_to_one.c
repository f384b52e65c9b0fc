// Each thread has a pointer of its own, and all lead to one place.
#include "twin.h"

int main(void) {
  int shared = 0;
#pragma omp parallel num_threads(3)
  {
    int own = 0;
    int* const at = RACY ? &shared : &own;
    *at += 1;  // RACE
    use(*at);
  }
  use(shared);
  return 0;
}
