/* OpenMP on each node: loops over shared arrays, critical sections by the library's locks, a
 * collapsed loop, tasks, and the library's barriers by the master alone. Blocked matrix
 * factorization (Cholesky modulo a prime: square roots are avoided, L D L^T). */
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <weir/dsm.h>

enum { kSide = 96, kPrime = 1000003 };

static int64_t inverse(int64_t a) {
  int64_t result = 1;
  for (int64_t e = kPrime - 2; e; e >>= 1, a = a * a % kPrime)
    if (e & 1) result = result * a % kPrime;
  return result;
}
static int64_t input(int i, int j) {
  return i >= j ? (i * 131 + j * 7919 + (i == j) * 5003) % kPrime : input(j, i);
}

/* Column k is done; what is to the right of it, in rows first to last, in steps. */
static void update(int64_t* a, int k, int row) {
  const int64_t factor = a[row * kSide + k] * inverse(a[k * kSide + k]) % kPrime;
  for (int j = k + 1; j < kSide; j++)
    a[row * kSide + j] = (a[row * kSide + j] + (kPrime - factor) * a[k * kSide + j]) % kPrime;
}

int main(int argc, char** argv) {
  weir_dsm_start(&argc, &argv);
  const int node = weir_dsm_node(), nodes = weir_dsm_nodes();
  int64_t* a = weir_dsm_alloc_shared(kSide * kSide, sizeof *a, NULL);
  int64_t* sum = weir_dsm_alloc_shared(600, sizeof *sum, NULL);
  omp_set_num_threads(3);
#pragma omp parallel for collapse(2)
  for (int i = 0; i < kSide; i++)
    for (int j = 0; j < kSide; j++)
      if (i % nodes == node) a[i * kSide + j] = input(i, j);
  weir_dsm_barrier(0);
  for (int k = 0; k + 1 < kSide; k++) {
#pragma omp parallel for schedule(dynamic, 2)
    for (int row = k + 1; row < kSide; row++)
      if (row % nodes == node) update(a, k, row);
    weir_dsm_barrier_replay(1, WEIR_DSM_STATIC);
  }
  /* Threads of all nodes count under one lock each. */
#pragma omp parallel
  {
#pragma omp for schedule(static, 1)
    for (int i = 0; i < kSide; i++) {
      if (i % nodes != node) continue;
      weir_dsm_lock_auto(i % 5);
      sum[i % 5 * 100] += a[i * kSide + i], sum[i % 5 * 100 + 1]++;
      weir_dsm_unlock(i % 5);
    }
#pragma omp single
    for (int i = 0; i < 40; i++) {
#pragma omp task firstprivate(i)
      {
        weir_dsm_lock(i % 5);
        sum[i % 5 * 100 + 2] += i;
        weir_dsm_unlock(i % 5);
      }
    }
  }
  weir_dsm_barrier(2);
  int64_t *own = malloc(kSide * kSide * sizeof *own), expected[5][3] = {{0}}, wrong = 0;
  for (int i = 0; i < kSide; i++)
    for (int j = 0; j < kSide; j++) own[i * kSide + j] = input(i, j);
  for (int k = 0; k + 1 < kSide; k++)
    for (int row = k + 1; row < kSide; row++) update(own, k, row);
  for (int i = 0; i < kSide; i++) expected[i % 5][0] += own[i * kSide + i], expected[i % 5][1]++;
  for (int i = 0; i < 40; i++) expected[i % 5][2] += i * nodes;
  for (int i = 0; i < kSide * kSide; i++) wrong += own[i] != a[i];
  for (int i = 0; i < 5; i++)
    for (int j = 0; j < 3; j++) wrong += expected[i][j] != sum[i * 100 + j];
  weir_dsm_reduce_int64(&wrong, 1, WEIR_DSM_SUM);
  if (node == 0) printf("openmp: %s (%ld)\n", wrong ? "WRONG" : "right", (long)wrong);
  weir_dsm_finish();
  return wrong != 0;
}
