/* MPI and shared memory in one program, as one that is moved from the one to the other: halos by
 * MPI_Sendrecv and MPI_Isend of shared rows, sums by MPI_Allreduce in place, matrices by
 * MPI_Alltoall, derived types, MPI_Bcast; and the library's locks and barriers between. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weir/dsm.h>

enum { kRow = 3000, kRounds = 8 };
static int64_t g_wrong;
#define MUST(what) \
  ((what) ? 0 : (g_wrong++, fprintf(stderr, "node %d, round %d: not so: %s\n", me, round, #what)))

int main(int argc, char** argv) {
  int provided, me, all;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  weir_dsm_start(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &all);
  long* rows = weir_dsm_alloc_shared((size_t)all * kRow, sizeof *rows, NULL); /* a row for each */
  long* sums =
      weir_dsm_alloc_shared((size_t)all * 4, sizeof *sums, NULL); /* several of them in a page */
  long* square = weir_dsm_alloc_shared((size_t)all * all * 2, sizeof *square, NULL);
  long* halo = weir_dsm_alloc_shared((size_t)all * 2 * kRow, sizeof *halo, NULL);
  long* mine = rows + (size_t)me * kRow;
  const int left = (me + all - 1) % all, right = (me + 1) % all;
  for (int round = 0; round < kRounds; round++) {
    for (int i = 0; i < kRow; i++) mine[i] = round * 1000000L + me * 10000 + i;
    long *from_left = halo + (size_t)me * 2 * kRow, *from_right = from_left + kRow;
    MPI_Sendrecv(mine, kRow, MPI_LONG, right, 1, from_left, kRow, MPI_LONG, left, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Request requests[2];
    MPI_Irecv(from_right, kRow, MPI_LONG, right, 2, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(mine, kRow, MPI_LONG, left, 2, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MUST(from_left[17] == round * 1000000L + left * 10000 + 17 &&
         from_right[kRow - 1] == round * 1000000L + right * 10000 + kRow - 1);
    weir_dsm_barrier(1);
    /* Others' halos, which MPI has written on their nodes. */
    const int other = (me + round) % all;
    for (int i = 0; i < kRow; i += 100)
      MUST(halo[(size_t)other * 2 * kRow + i] ==
           round * 1000000L + (other + all - 1) % all * 10000L + i);
    /* In place, neighbours in one page. */
    for (int i = 0; i < 4; i++) sums[me * 4 + i] = me + i + round;
    MPI_Allreduce(MPI_IN_PLACE, sums + me * 4, 4, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < 4; i++)
      MUST(sums[me * 4 + i] == all * (all - 1) / 2 + (long)all * (i + round));
    weir_dsm_barrier(2);
    for (int i = 0; i < all * 4; i++)
      MUST(sums[i] == all * (all - 1) / 2 + (long)all * (i % 4 + round));
    weir_dsm_barrier(3);
    /* Each row to each column. */
    for (int i = 0; i < all; i++) square[me * all + i] = round * 100 + me * 10 + i;
    MPI_Alltoall(square + me * all, 1, MPI_LONG, square + (size_t)all * all + me * all, 1, MPI_LONG,
                 MPI_COMM_WORLD);
    weir_dsm_barrier(4);
    for (int i = 0; i < all; i++)
      for (int j = 0; j < all; j++)
        MUST(square[(size_t)all * all + i * all + j] == round * 100 + j * 10 + i);
    weir_dsm_barrier(5);
    /* Every third word, by a type; from a root that goes round. */
    MPI_Datatype third;
    MPI_Type_vector(kRow / 3, 1, 3, MPI_LONG, &third);
    MPI_Type_commit(&third);
    const int root = round % all;
    long* copy = halo + (size_t)me * 2 * kRow;
    memset(copy, 0, kRow * sizeof *copy);
    if (me == root) memcpy(copy, rows + (size_t)((root + 1) % all) * kRow, kRow * sizeof *copy);
    MPI_Bcast(copy, 1, third, root, MPI_COMM_WORLD);
    for (int i = 0; i < kRow; i++)
      MUST(copy[i] ==
           (i % 3 == 0 || me == root ? round * 1000000L + (root + 1) % all * 10000L + i : 0));
    MPI_Type_free(&third);
    weir_dsm_lock(3);
    sums[0]++;
    weir_dsm_unlock(3);
    weir_dsm_barrier(6);
    MUST(sums[0] == all * (all - 1) / 2 + (long)all * round + all);
    weir_dsm_barrier(7);
  }
  weir_dsm_finish();
  MPI_Allreduce(MPI_IN_PLACE, &g_wrong, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  if (me == 0) printf("mixed: %s (%ld)\n", g_wrong ? "WRONG" : "right", (long)g_wrong);
  MPI_Finalize();
  return g_wrong != 0;
}
