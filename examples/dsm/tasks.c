/* A pool of tasks: who has nothing to do takes the next number under a lock. A task is a way to put
 * queens into the first two rows of a chess board; its result is the number of ways to go on.
 * usage: tasks [ROWS] */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <weir/dsm.h>

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

int main(int argc, char** argv) {
  weir_dsm_start(&argc, &argv);
  const unsigned rows = argc > 1 ? atoi(argv[1]) : 9, all = (1u << rows) - 1;
  unsigned* next = weir_dsm_node() == 0 ? weir_dsm_alloc(sizeof *next) : NULL;
  weir_dsm_share(&next, sizeof next, 0);
  int64_t sum = 0;
  for (;;) {
    weir_dsm_lock_auto(0); /* brings the number along */
    const unsigned task = (*next)++;
    weir_dsm_unlock(0);
    if (task >= rows * rows) break;
    const unsigned first = 1u << task / rows, second = 1u << task % rows;
    if (second & (first | first << 1 | first >> 1)) continue;
    sum += ways(all, first | second, (first << 1 | second) << 1, (first >> 1 | second) >> 1);
  }
  weir_dsm_reduce_int64(&sum, 1, WEIR_DSM_SUM);
  if (weir_dsm_node() == 0) printf("tasks: %ld ways for %u queens\n", (long)sum, rows);
  weir_dsm_finish();
  return 0;
}
