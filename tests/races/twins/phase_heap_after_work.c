// Each thread fills blocks of its own, many thousand accesses; then both count in one block.
#include "twin.h"

struct Statistics {
  long unused[4], blocks;
};
static struct Statistics* statistics;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* body(void* number) {
  for (int round = 0; round < 100; ++round) {
    int* block = malloc(400);
    if (!block) abort();
    for (int i = 0; i < 100; ++i) block[i] = i + round;
    use(block[(long)number]);
    free(block);
  }
  guard(&mutex);
  statistics->blocks += 100;  // RACE
  unguard(&mutex);
  return NULL;
}

int main(void) {
  statistics = calloc(1, sizeof *statistics);
  if (!statistics) return 1;
  run_threads(2, body);
  use(statistics->blocks);
  free(statistics);
  return 0;
}
