/* examples/dsm/histogram.c by OpenMP. usage: histogram_openmp [BYTES] */
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
  const int64_t count = argc > 1 ? atol(argv[1]) : 1000000;
  int64_t bins[256] = {0};
#pragma omp parallel for reduction(+ : bins)
  for (int64_t i = 0; i < count; i++) bins[byte_at(i)]++;
  print(bins);
  return 0;
}
