// A small program of which the reports are known. Argument: what it does.
//   shared   each node adds to counters of its own that lie side by side, between barriers
//   stuck    node 1 holds lock 7 and does not come to the barrier until a file appears; the last
//            node wants the lock
//   circle   two nodes take locks 1 and 2 in opposite orders
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "weir/dsm.h"

static long* counters;

static __attribute__((noinline)) void count(unsigned node) {
  for (int i = 0; i < 16; i++) counters[node * 16 + i]++;  // FALSELY SHARED
}

int main(int argc, char** argv) {
  weir_dsm_start(&argc, &argv);
  const unsigned node = weir_dsm_node(), nodes = weir_dsm_nodes();
  printf("node %u: process %d\n", node, getpid());
  fflush(stdout);
  const char* what = argc > 1 ? argv[1] : "shared";
  if (node == 0) counters = static_cast<long*>(weir_dsm_alloc(64 * 1024));  // ALLOCATED
  weir_dsm_share(&counters, sizeof counters, 0);
  int status = 0;
  if (!strcmp(what, "shared")) {
    for (int round = 0; round < 20; round++) {
      count(node);
      weir_dsm_lock(3);
      counters[4096]++;
      weir_dsm_unlock(3);
      weir_dsm_barrier(1);
    }
    status = counters[(nodes - 1) * 16] != 20 || counters[4096] != 20L * nodes;
  } else if (!strcmp(what, "stuck")) {
    if (node == 1) {
      weir_dsm_lock(7);
      while (access("go", F_OK)) usleep(10000);
      weir_dsm_unlock(7);
    } else if (node == nodes - 1) {
      usleep(200000);
      weir_dsm_lock(7);
      weir_dsm_unlock(7);
    }
    weir_dsm_barrier(5);
  } else {
    if (node < 2) weir_dsm_lock(1 + node);
    weir_dsm_barrier(0);
    if (node < 2) weir_dsm_lock(2 - node);
    weir_dsm_barrier(0);
  }
  weir_dsm_finish();
  return status;
}
