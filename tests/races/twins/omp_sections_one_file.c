// Two sections append to one text: each has a critical section of its own name.
#include "twin.h"

static char text[64];
static int length;

static void put(char letter) {
  text[length] = letter;  // RACE
  length = length + 1;    // RACE
}

int main(void) {
#pragma omp parallel sections num_threads(2)
  {
#pragma omp section
    {
#pragma omp critical(first)
      for (int i = 0; i < 10; ++i) put('a');
    }
#pragma omp section
    {
#if RACY
#pragma omp critical(second)
#else
#pragma omp critical(first)
#endif
      for (int i = 0; i < 10; ++i) put('b');
    }
  }
  use(text[3]);
  return 0;
}
