/* Histogram: how often does each byte occur? Each node counts its part of the data, and adds what
 * it has counted under a lock. usage: histogram [BYTES] */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <weir/dsm.h>

static uint8_t byte_at(uint32_t i) {
  const uint32_t hash = i * 2654435761u;
  return (hash >> 24) * (hash >> 16 & 255) / 255;
}

int main(int argc, char** argv) {
  weir_dsm_start(&argc, &argv);
  const uint64_t count = argc > 1 ? atol(argv[1]) : 1000000, node = weir_dsm_node(),
                 nodes = weir_dsm_nodes();
  int64_t* bins = node == 0 ? weir_dsm_alloc(256 * sizeof *bins) : NULL;
  weir_dsm_share(&bins, sizeof bins, 0);
  int64_t own[256] = {0};
  for (uint64_t i = node * count / nodes; i < (node + 1) * count / nodes; i++) own[byte_at(i)]++;
  weir_dsm_lock(0);
  for (int i = 0; i < 256; i++) bins[i] += own[i];
  weir_dsm_unlock(0);
  weir_dsm_barrier(0);
  if (node == 0) {
    int most = 0;
    int64_t weighed = 0;
    for (int i = 0; i < 256; i++) {
      if (bins[i] > bins[most]) most = i;
      weighed += i * bins[i];
    }
    printf("histogram: most often %d (%ld times), sum %ld\n", most, (long)bins[most],
           (long)weighed);
  }
  weir_dsm_finish();
  return 0;
}
