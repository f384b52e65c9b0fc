/* examples/dsm/tasks.c by OpenMP. usage: tasks_openmp [ROWS] */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* Bits: columns and diagonals that are taken, shifted from row to row. */
static int64_t ways(unsigned all, unsigned columns, unsigned left, unsigned right) {
  if (columns == all) return 1;
  int64_t sum = 0;
  for (unsigned free = all & ~(columns | left | right); free; free &= free - 1) {
    const unsigned queen = free & -free;
    sum += ways(all, columns | queen, (left | queen) << 1, (right | queen) >> 1);
  }
  return sum;
}

static int64_t do_task(unsigned task, unsigned rows) {
  const unsigned first = 1u << task / rows, second = 1u << task % rows;
  if (second & (first | first << 1 | first >> 1)) return 0;
  return ways((1u << rows) - 1, first | second, (first << 1 | second) << 1,
              (first >> 1 | second) >> 1);
}

int main(int argc, char** argv) {
  const unsigned rows = argc > 1 ? atoi(argv[1]) : 9;
  int64_t sum = 0;
#pragma omp parallel for schedule(dynamic) reduction(+ : sum)
  for (unsigned task = 0; task < rows * rows; task++) sum += do_task(task, rows);
  printf("tasks: %ld ways for %u queens\n", (long)sum, rows);
  return 0;
}
