// As hazard_pointer_page_clean, but who frees the block does not ask whether somebody reads it.
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "program.h"

struct Reader {
  _Atomic(long*) hazard;
  long work[64];
};
static struct Reader* reader;
static _Atomic(long*) current;
static long sum;

static void* read_it(void* unused) {
  for (int i = 0; i < 5000; ++i) reader->work[i % 64] += i;
  long* block = atomic_load(&current);
  atomic_store_explicit(&reader->hazard, block, memory_order_relaxed);
  atomic_thread_fence(memory_order_seq_cst);
  if (block == atomic_load(&current)) sum = *block;  // RACE
  atomic_store_explicit(&reader->hazard, NULL, memory_order_release);
  return unused;
}

static void* free_it(void* unused) {
  long* block = atomic_exchange(&current, NULL);
  *block = 0;  // RACE
  free(block);
  return unused;
}

int main(void) {
  pthread_t first, second;
  reader = (struct Reader*)calloc(1, sizeof *reader);
  long* block = (long*)malloc(sizeof *block);
  *block = 7;
  atomic_store(&current, block);
  pthread_create(&first, NULL, read_it, NULL);
  usleep(200000);
  pthread_create(&second, NULL, free_it, NULL);
  pthread_join(first, NULL);
  pthread_join(second, NULL);
  return sum == 7 ? 0 : 1;
}
