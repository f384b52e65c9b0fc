/* A histogram by threads of the program's own: they read their node's part, count in an array of
 * their own under their node's mutex of pthreads, and bring that into shared memory under the
 * library's locks, while the main threads pass barriers and change the input. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weir/dsm.h>

enum { kValues = 60000, kBins = 1500, kThreads = 3, kRounds = 4, kLocks = 10 };

static unsigned* g_values;
static uint32_t* g_bins;
static pthread_barrier_t g_turn;
static uint32_t g_taken[kRounds];
static pthread_mutex_t g_mutex = PTHREAD_MUTEX_INITIALIZER;

static unsigned value(unsigned i, unsigned round) {
  unsigned x = i * 2654435761u + round * 40503u;
  x ^= x >> 15;
  return x * 2246822519u >> 7;
}

static void* count(void* argument) {
  (void)argument;
  const unsigned node = weir_dsm_node(), nodes = weir_dsm_nodes();
  for (int round = 0; round < kRounds; round++) {
    pthread_barrier_wait(&g_turn); /* the main thread has passed the library's */
    const unsigned first = (uint64_t)kValues * node / nodes,
                   last = (uint64_t)kValues * (node + 1) / nodes;
    for (;;) {
      pthread_mutex_lock(&g_mutex);
      const unsigned from = first + g_taken[round];
      g_taken[round] += 500;
      pthread_mutex_unlock(&g_mutex);
      if (from >= last) break;
      uint32_t own[kBins] = {0};
      for (unsigned i = from; i < from + 500 && i < last; i++) own[g_values[i] % kBins]++;
      for (unsigned lock = 0; lock < kLocks; lock++) {
        weir_dsm_lock(lock);
        for (unsigned bin = lock; bin < kBins; bin += kLocks) g_bins[bin] += own[bin];
        weir_dsm_unlock(lock);
      }
    }
    pthread_barrier_wait(&g_turn);
  }
  return NULL;
}

int main(int argc, char** argv) {
  weir_dsm_start(&argc, &argv);
  const unsigned node = weir_dsm_node(), nodes = weir_dsm_nodes();
  g_values = weir_dsm_alloc_shared(kValues, sizeof *g_values, NULL);
  g_bins = weir_dsm_alloc_shared(kBins, sizeof *g_bins, NULL);
  pthread_barrier_init(&g_turn, NULL, kThreads + 1);
  pthread_t threads[kThreads];
  for (int i = 0; i < kThreads; i++) pthread_create(&threads[i], NULL, count, NULL);
  for (unsigned round = 0; round < kRounds; round++) {
    /* Each node fills what another counts. */
    for (unsigned i = (node + round) % nodes; i < kValues; i += nodes)
      g_values[i] = value(i, round);
    weir_dsm_barrier(1);
    pthread_barrier_wait(&g_turn);
    for (int i = 0; i < 5; i++) weir_dsm_barrier(2); /* while they count */
    pthread_barrier_wait(&g_turn);
    weir_dsm_barrier(3);
  }
  for (int i = 0; i < kThreads; i++) pthread_join(threads[i], NULL);
  uint32_t own[kBins] = {0};
  for (unsigned round = 0; round < kRounds; round++)
    for (unsigned i = 0; i < kValues; i++) own[value(i, round) % kBins]++;
  int64_t wrong = 0;
  for (unsigned bin = 0; bin < kBins; bin++) wrong += own[bin] != g_bins[bin];
  weir_dsm_reduce_int64(&wrong, 1, WEIR_DSM_SUM);
  if (node == 0) printf("threads: %s (%ld)\n", wrong ? "WRONG" : "right", (long)wrong);
  weir_dsm_finish();
  return wrong != 0;
}
