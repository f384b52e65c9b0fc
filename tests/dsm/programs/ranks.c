/* Page ranks of a graph, with work that is taken by trylock: whoever finds a block's lock free
 * takes the block, by threads of pthreads beside the main one. A convergence test by a reduction,
 * sums in fixed point so that the order does not matter, and a node that comes late each time. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <weir/dsm.h>

enum { kPages = 4000, kLinks = 6, kBlocks = 24, kRounds = 7, kThreads = 2, kOne = 1 << 20 };

static int64_t *g_rank[2], *g_done;
static int g_round;
static pthread_barrier_t g_turn;

static unsigned link_of(unsigned page, unsigned i) {
  return (page * 31u + i * i * 977u + page / 7 * 13u) % kPages;
}

static int64_t rank_from(const int64_t* from, unsigned page) {
  int64_t sum = kOne * 15 / 100;
  for (unsigned i = 0; i < kLinks; i++) sum += from[link_of(page, i)] * 85 / 100 / kLinks;
  return sum;
}

static void do_block(unsigned block, int round) {
  const unsigned first = block * kPages / kBlocks, last = (block + 1) * kPages / kBlocks;
  for (unsigned page = first; page < last; page++)
    g_rank[(round + 1) & 1][page] = rank_from(g_rank[round & 1], page);
}

/* Until all are done: what another has is looked at again. */
static void take_blocks(unsigned seed) {
  for (int all = 0; !all;) {
    all = 1;
    for (unsigned i = 0; i < kBlocks; i++) {
      const unsigned block = (seed * 7 + i) % kBlocks;
      if (!weir_dsm_trylock(100 + block)) {
        all = 0;
        continue;
      }
      if (g_done[block * 64] <= g_round) {
        do_block(block, g_round);
        g_done[block * 64] = g_round + 1;
      }
      weir_dsm_unlock(100 + block);
    }
    const struct timespec moment = {.tv_nsec = 20000};
    if (!all) nanosleep(&moment, NULL);
  }
}

static void* help(void* argument) {
  const unsigned seed = weir_dsm_node() * 3 + (unsigned)(uintptr_t)argument;
  for (int round = 0; round < kRounds; round++) {
    pthread_barrier_wait(&g_turn);
    take_blocks(seed);
    pthread_barrier_wait(&g_turn);
  }
  return NULL;
}

int main(int argc, char** argv) {
  weir_dsm_start(&argc, &argv);
  const unsigned node = weir_dsm_node(), nodes = weir_dsm_nodes();
  for (int i = 0; i < 2; i++) g_rank[i] = weir_dsm_alloc_shared(kPages, sizeof **g_rank, NULL);
  g_done = weir_dsm_alloc_shared(kBlocks * 64, sizeof *g_done, NULL);
  for (unsigned page = node; page < kPages; page += nodes) g_rank[0][page] = kOne;
  pthread_barrier_init(&g_turn, NULL, kThreads + 1);
  pthread_t threads[kThreads];
  for (uintptr_t i = 0; i < kThreads; i++) pthread_create(&threads[i], NULL, help, (void*)i);
  weir_dsm_barrier(1);
  int64_t changes = 0;
  for (g_round = 0; g_round < kRounds;) {
    if ((unsigned)g_round % nodes == node) {
      const struct timespec late = {.tv_nsec = 3000000};
      nanosleep(&late, NULL);
    }
    pthread_barrier_wait(&g_turn);
    pthread_barrier_wait(&g_turn);
    weir_dsm_barrier(2);
    int64_t change = 0;
    for (unsigned page = node; page < kPages; page += nodes)
      change += llabs(g_rank[0][page] - g_rank[1][page]);
    weir_dsm_reduce_int64(&change, 1, WEIR_DSM_SUM);
    changes += change;
    g_round++;
  }
  for (int i = 0; i < kThreads; i++) pthread_join(threads[i], NULL);
  int64_t* own[2] = {calloc(kPages, sizeof **own), calloc(kPages, sizeof **own)};
  int64_t wrong = 0, expected = 0;
  for (unsigned page = 0; page < kPages; page++) own[0][page] = kOne;
  for (int round = 0; round < kRounds; round++) {
    for (unsigned page = 0; page < kPages; page++)
      own[(round + 1) & 1][page] = rank_from(own[round & 1], page);
    for (unsigned page = 0; page < kPages; page++) expected += llabs(own[0][page] - own[1][page]);
  }
  for (unsigned page = 0; page < kPages; page++)
    wrong += own[kRounds & 1][page] != g_rank[kRounds & 1][page];
  wrong += changes != expected;
  weir_dsm_reduce_int64(&wrong, 1, WEIR_DSM_SUM);
  if (node == 0) printf("ranks: %s (%ld)\n", wrong ? "WRONG" : "right", (long)wrong);
  weir_dsm_finish();
  return wrong != 0;
}
