/* examples/dsm/tasks.c by MPI: the next number is in a window of rank 0.
 * usage: mpirun tasks_mpi [ROWS] */
#include <mpi.h>
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
  MPI_Init(&argc, &argv);
  const unsigned rows = argc > 1 ? atoi(argv[1]) : 9, one = 1;
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  unsigned *next, task;
  MPI_Win window;
  MPI_Win_allocate(rank == 0 ? sizeof *next : 0, sizeof *next, MPI_INFO_NULL, MPI_COMM_WORLD, &next,
                   &window);
  if (rank == 0) *next = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  int64_t sum = 0, all = 0;
  MPI_Win_lock_all(0, window);
  for (;;) {
    MPI_Fetch_and_op(&one, &task, MPI_UNSIGNED, 0, 0, MPI_SUM, window);
    MPI_Win_flush(0, window);
    if (task >= rows * rows) break;
    sum += do_task(task, rows);
  }
  MPI_Win_unlock_all(window);
  MPI_Reduce(&sum, &all, 1, MPI_INT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("tasks: %ld ways for %u queens\n", (long)all, rows);
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
