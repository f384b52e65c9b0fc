/* Waves in a basin (a discrete wave equation in integers), OpenMP in each node. Every few steps the
 * state goes to a file in two ways: by weir_dsm_checkpoint, and by each node's fwrite into one file
 * at its own offset. Then it is spoilt, and the computation goes on from the file. */
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <weir/dsm.h>

enum { kRows = 72, kColumns = 180, kSteps = 24, kEvery = 8, kCells = kRows * kColumns };

static int32_t drop(int i) { return (int32_t)((unsigned)i * 40503u >> 7) % 1000; }

static int32_t next(const int32_t* now, const int32_t* before, int row, int column) {
  const int i = row * kColumns + column;
  if (row == 0 || column == 0 || row == kRows - 1 || column == kColumns - 1) return 0;
  const int32_t around = now[i - 1] + now[i + 1] + now[i - kColumns] + now[i + kColumns];
  return (around - 4 * now[i]) / 4 + 2 * now[i] - before[i] - before[i] / 64;
}

static FILE* must_open(const char* path, const char* how) {
  FILE* file = fopen(path, how);
  if (!file) weir_dsm_abort(1, "the file of the state cannot be opened");
  return file;
}

int main(int argc, char** argv) {
  weir_dsm_start(&argc, &argv);
  const int node = (int)weir_dsm_node(), nodes = (int)weir_dsm_nodes();
  const int first = kRows * node / nodes, last = kRows * (node + 1) / nodes;
  char folder[64] = "";
  if (node == 0) {
    snprintf(folder, sizeof folder, "tides-%d", getpid());
    mkdir(folder, 0700);
  }
  weir_dsm_share(folder, sizeof folder, 0);
  char path[100];
  snprintf(path, sizeof path, "%s/state", folder);
  int32_t* state[3];
  for (int i = 0; i < 3; i++) state[i] = weir_dsm_alloc_shared(kCells, sizeof **state, NULL);
  omp_set_num_threads(2);
#pragma omp parallel for
  for (int i = first * kColumns; i < last * kColumns; i++) state[0][i] = state[1][i] = drop(i);
  weir_dsm_barrier(0);
  double energy = 0;
  for (int step = 0; step < kSteps; step++) {
    const int32_t *before = state[step % 3], *now = state[(step + 1) % 3];
    int32_t* then = state[(step + 2) % 3];
    double sum = 0;
#pragma omp parallel for schedule(dynamic, 3) reduction(+ : sum)
    for (int row = first; row < last; row++)
      for (int column = 0; column < kColumns; column++) {
        then[row * kColumns + column] = next(now, before, row, column);
        sum += then[row * kColumns + column];
      }
    weir_dsm_reduce_double(&sum, 1, WEIR_DSM_SUM);
    energy += sum * (step + 1);
    if (step % kEvery != kEvery - 1) continue;
    if (node == 0) fclose(must_open(path, "w"));
    if (weir_dsm_checkpoint(folder, state[0])) weir_dsm_abort(1, "no checkpoint");
    FILE* file = must_open(path, "r+");
    for (int i = 0; i < 3; i++) {
      fseek(file, (long)(i * kCells + first * kColumns) * (long)sizeof **state, SEEK_SET);
      fwrite(state[i] + first * kColumns, sizeof **state, (size_t)((last - first) * kColumns),
             file);
    }
    if (fclose(file)) weir_dsm_abort(1, "the state could not be written");
    weir_dsm_barrier(1);
    for (int i = 0; i < 3; i++)
      memset(state[i] + first * kColumns, 0x55, (size_t)(last - first) * kColumns * 4);
    weir_dsm_barrier(2);
    /* Another node reads it than has written it. */
    const int other = (node + 1) % nodes, from = kRows * other / nodes,
              to = kRows * (other + 1) / nodes;
    file = must_open(path, "r");
    for (int i = 0; i < 3; i++) {
      const size_t count = (size_t)((to - from) * kColumns);
      fseek(file, (long)(i * kCells + from * kColumns) * (long)sizeof **state, SEEK_SET);
      if (fread(state[i] + from * kColumns, sizeof **state, count, file) != count)
        weir_dsm_abort(1, "the state could not be read");
    }
    fclose(file);
    weir_dsm_barrier(3);
  }
  int32_t* own[3];
  double expected = 0;
  int64_t wrong = 0;
  for (int i = 0; i < 3; i++) own[i] = calloc(kCells, sizeof **own);
  for (int i = 0; i < kCells; i++) own[0][i] = own[1][i] = drop(i);
  for (int step = 0; step < kSteps; step++) {
    double sum = 0;
    for (int i = 0; i < kCells; i++)
      sum += own[(step + 2) % 3][i] =
          next(own[(step + 1) % 3], own[step % 3], i / kColumns, i % kColumns);
    expected += sum * (step + 1);
  }
  for (int i = 0; i < kCells; i++) wrong += own[(kSteps + 1) % 3][i] != state[(kSteps + 1) % 3][i];
  wrong += energy != expected;
  weir_dsm_reduce_int64(&wrong, 1, WEIR_DSM_SUM);
  if (node == 0) {
    char remove[100];
    snprintf(remove, sizeof remove, "rm -rf %s", folder);
    if (system(remove)) wrong++;
    printf("tides: %s (%ld)\n", wrong ? "WRONG" : "right", (long)wrong);
  }
  weir_dsm_finish();
  return wrong != 0;
}
