// OpenMP loops with every schedule fill their arrays, and reductions give the sequential result.
#include <omp.h>
#include "program.h"

enum { kSize = 20000 };
static int squares[kSize], doubled[kSize], guided[kSize];

int main(int argc, char** argv) {
  int threads = argument(argc, argv, 1, 4), biggest = -1, used = 0;
  long sum = 0;
  omp_set_dynamic(0);
  omp_set_num_threads(threads);
#pragma omp parallel for schedule(static)
  for (int i = 0; i < kSize; ++i) squares[i] = i % 100 * (i % 100);
#pragma omp parallel for schedule(dynamic, 1000)
  for (int i = 0; i < kSize; ++i) doubled[i] = 2 * squares[i];
#pragma omp parallel for schedule(guided, 500)
  for (int i = 0; i < kSize; ++i) guided[i] = doubled[i] - squares[i];
#pragma omp parallel for reduction(+ : sum) reduction(max : biggest)
  for (int i = 0; i < kSize; ++i) {
    sum += guided[i];
    if (guided[i] > biggest) biggest = guided[i];
  }
#pragma omp parallel reduction(+ : used)
  used += omp_get_num_threads() == threads;
  CHECK_EQ(used, threads);
  CHECK_EQ(biggest, 99 * 99);
  CHECK_EQ(sum, kSize / 100 * 328350L);
  printf("sum %ld biggest %d\n", sum, biggest);
  return 0;
}
