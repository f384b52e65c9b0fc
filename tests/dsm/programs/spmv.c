/* Power iteration with a sparse matrix (CSR) whose rows have very different lengths. Rows are given
 * out in blocks by a counter under a lock, so that long rows do not keep one node busy; the norm is
 * a reduction. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <weir/dsm.h>

enum { kRows = 3000, kSteps = 12, kBlock = 37 };

static uint64_t mix(uint64_t x) {
  x ^= x >> 31, x *= 0x7fb5d329728ea185u, x ^= x >> 27, x *= 0x81dadef4bc2dd44du;
  return x ^ x >> 33;
}

static unsigned length_of(unsigned row) { return row % 100 == 3 ? 400 : 1 + mix(row) % 9; }

struct matrix {
  unsigned *starts, *columns;
  int64_t* values;
};

static void fill(const struct matrix* m, unsigned row) {
  for (unsigned i = m->starts[row]; i < m->starts[row + 1]; i++) {
    m->columns[i] = mix(i * 7919u + row) % kRows;
    m->values[i] = (int64_t)(mix(i) % 19) - 9;
  }
}

/* Integers, modulo a prime: the order of additions does not matter. */
static const int64_t kPrime = 1000003;
static int64_t product(const struct matrix* m, unsigned row, const int64_t* x) {
  int64_t sum = 0;
  for (unsigned i = m->starts[row]; i < m->starts[row + 1]; i++)
    sum += m->values[i] * x[m->columns[i]];
  return (sum % kPrime + kPrime) % kPrime;
}

int main(int argc, char** argv) {
  weir_dsm_start(&argc, &argv);
  const unsigned node = weir_dsm_node(), nodes = weir_dsm_nodes();
  unsigned total = 0;
  for (unsigned row = 0; row < kRows; row++) total += length_of(row);
  struct matrix m = {weir_dsm_alloc_shared(kRows + 1, sizeof(unsigned), NULL),
                     weir_dsm_alloc_shared(total, sizeof(unsigned), NULL),
                     weir_dsm_alloc_shared(total, sizeof(int64_t), NULL)};
  int64_t* x = weir_dsm_alloc_shared(kRows, sizeof *x, NULL);
  int64_t* y = weir_dsm_alloc_shared(kRows, sizeof *y, NULL);
  unsigned* next = weir_dsm_alloc_shared(1, sizeof *next, NULL);
  if (node == 0) {
    for (unsigned row = 0; row < kRows; row++) m.starts[row + 1] = m.starts[row] + length_of(row);
  }
  weir_dsm_barrier(0);
  for (unsigned row = node; row < kRows; row += nodes) fill(&m, row), x[row] = row % 11 + 1;
  weir_dsm_barrier_replay(1, WEIR_DSM_STATIC);
  int64_t sums[kSteps];
  for (unsigned step = 0; step < kSteps; step++) {
    sums[step] = 0;
    for (;;) {
      weir_dsm_lock_auto(7);
      const unsigned from = *next;
      *next = from + kBlock;
      weir_dsm_unlock(7);
      if (from >= kRows) break;
      for (unsigned row = from; row < from + kBlock && row < kRows; row++)
        y[row] = product(&m, row, x), sums[step] += y[row];
    }
    weir_dsm_reduce_int64(&sums[step], 1, WEIR_DSM_SUM);
    if (node == 0) *next = 0;
    int64_t* other = x;
    x = y, y = other;
    weir_dsm_barrier_replay(2, WEIR_DSM_DYNAMIC);
  }
  /* Alone, on memory of its own. */
  struct matrix own = {malloc((kRows + 1) * sizeof(unsigned)), malloc(total * sizeof(unsigned)),
                       malloc(total * sizeof(int64_t))};
  int64_t *a = malloc(kRows * sizeof *a), *b = malloc(kRows * sizeof *b);
  own.starts[0] = 0;
  for (unsigned row = 0; row < kRows; row++) own.starts[row + 1] = own.starts[row] + length_of(row);
  for (unsigned row = 0; row < kRows; row++) fill(&own, row), a[row] = row % 11 + 1;
  int64_t wrong = 0;
  for (unsigned step = 0; step < kSteps; step++) {
    int64_t sum = 0;
    for (unsigned row = 0; row < kRows; row++) sum += b[row] = product(&own, row, a);
    wrong += sum != sums[step];
    int64_t* other = a;
    a = b, b = other;
  }
  for (unsigned row = 0; row < kRows; row++) wrong += a[row] != x[row];
  weir_dsm_reduce_int64(&wrong, 1, WEIR_DSM_SUM);
  if (node == 0) printf("spmv: %s (%ld)\n", wrong ? "WRONG" : "right", (long)wrong);
  weir_dsm_finish();
  return wrong != 0;
}
