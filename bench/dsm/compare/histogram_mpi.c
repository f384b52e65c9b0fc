/* examples/dsm/histogram.c by MPI. usage: mpirun histogram_mpi [BYTES] */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static uint8_t byte_at(uint32_t i) {
  const uint32_t hash = i * 2654435761u;
  return (hash >> 24) * (hash >> 16 & 255) / 255;
}

static void print(const int64_t* bins) {
  int most = 0;
  int64_t weighed = 0;
  for (int i = 0; i < 256; i++) {
    if (bins[i] > bins[most]) most = i;
    weighed += i * bins[i];
  }
  printf("histogram: most often %d (%ld times), sum %ld\n", most, (long)bins[most], (long)weighed);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int64_t count = argc > 1 ? atol(argv[1]) : 1000000;
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int64_t own[256] = {0}, bins[256];
  for (int64_t i = rank * count / ranks; i < (rank + 1) * count / ranks; i++) own[byte_at(i)]++;
  MPI_Reduce(own, bins, 256, MPI_INT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) print(bins);
  MPI_Finalize();
  return 0;
}
