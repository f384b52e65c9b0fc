// Nested OpenMP regions, barriers between phases, threadprivate copies and sections.
#include <omp.h>
#include "program.h"

static int mine = 3;
#pragma omp threadprivate(mine)

int main(int argc, char** argv) {
  int threads = argument(argc, argv, 1, 4), levels = 0, phase[kMaxThreads] = {0}, sections = 0;
  omp_set_max_active_levels(2);
  omp_set_num_threads(threads);
#pragma omp parallel
  {
    int me = omp_get_thread_num();
    mine += me;
    for (int round = 1; round <= 10; ++round) {
      phase[me] = round;
#pragma omp barrier
      for (int i = 0; i < threads; ++i) CHECK(phase[i] == round);
#pragma omp barrier
    }
    int inner = 0;
#pragma omp parallel num_threads(2) reduction(+ : inner)
    inner += omp_get_level();
#pragma omp atomic
    levels += inner;
    CHECK_EQ(mine, 3 + me);
  }
#pragma omp parallel sections reduction(+ : sections)
  {
#pragma omp section
    sections += 1;
#pragma omp section
    sections += 10;
#pragma omp section
    sections += 100;
  }
  CHECK_EQ(sections, 111);
  CHECK_EQ(levels, threads * 4);
  printf("levels %d\n", levels);
  return 0;
}
