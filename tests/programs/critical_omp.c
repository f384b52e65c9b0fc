// OpenMP critical, atomic, ordered, single, master and locks each keep their promise.
#include <omp.h>
#include "program.h"

static int order[64], ordered_count;

int main(int argc, char** argv) {
  int threads = argument(argc, argv, 1, 4), singles = 0, masters = 0;
  long critical = 0, atomic = 0, locked = 0;
  omp_lock_t lock;
  omp_init_lock(&lock);
  omp_set_num_threads(threads);
#pragma omp parallel
  {
    for (int i = 0; i < 50; ++i) {
#pragma omp critical
      ++critical;
#pragma omp atomic
      ++atomic;
      omp_set_lock(&lock);
      ++locked;
      omp_unset_lock(&lock);
    }
#pragma omp single
    ++singles;
#pragma omp master
    ++masters;
#pragma omp barrier
#pragma omp for ordered schedule(dynamic, 1)
    for (int i = 0; i < 64; ++i) {
#pragma omp ordered
      order[ordered_count++] = i;
    }
  }
  omp_destroy_lock(&lock);
  CHECK_EQ(critical, threads * 50L);
  CHECK_EQ(atomic, critical);
  CHECK_EQ(locked, critical);
  CHECK(singles == 1 && masters == 1);
  for (int i = 0; i < 64; ++i) CHECK_EQ(order[i], i);
  printf("critical %ld\n", critical);
  return 0;
}
