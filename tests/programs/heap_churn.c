// Producers allocate, consumers free: memory that changes hands through a queue under a mutex is
// never corrupted.
#include "program.h"

enum { kSlots = 16, kEach = 60 };
struct Block {
  size_t size;
  unsigned seed;
  unsigned char bytes[];
};
static struct Block* queue[kSlots];
static int head, tail, left_to_take;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t room = PTHREAD_COND_INITIALIZER, filled = PTHREAD_COND_INITIALIZER;

static void produce(unsigned seed) {
  for (int i = 0; i < kEach; ++i) {
    size_t size = (size_t)rand_r(&seed) % (i % 20 == 0 ? 200000 : 1500) + 1;
    struct Block* block = (struct Block*)malloc(sizeof *block + size);
    block->size = size;
    block->seed = seed;
    for (size_t k = 0; k < size; ++k) block->bytes[k] = (unsigned char)(seed + k);
    pthread_mutex_lock(&lock);
    while (head - tail == kSlots) pthread_cond_wait(&room, &lock);
    queue[head++ % kSlots] = block;
    pthread_cond_signal(&filled);
    pthread_mutex_unlock(&lock);
  }
}

static void consume(void) {
  for (;;) {
    pthread_mutex_lock(&lock);
    while (head == tail && left_to_take > 0) pthread_cond_wait(&filled, &lock);
    if (left_to_take == 0) break;
    struct Block* block = queue[tail++ % kSlots];
    if (--left_to_take == 0) pthread_cond_broadcast(&filled);
    pthread_cond_signal(&room);
    pthread_mutex_unlock(&lock);
    for (size_t k = 0; k < block->size; ++k)
      CHECK_EQ(block->bytes[k], (unsigned char)(block->seed + k));
    free(block);
  }
  pthread_mutex_unlock(&lock);
}

static void* body(void* number) {
  if ((long)number % 2) consume();
  else produce((unsigned)(long)number);
  return NULL;
}

int main(int argc, char** argv) {
  int threads = (argument(argc, argv, 1, 4) + 1) / 2 * 2;
  left_to_take = threads / 2 * kEach;
  int total = left_to_take;
  run_threads(threads, body);
  CHECK_EQ(head, total);
  CHECK_EQ(tail, total);
  printf("blocks %d\n", total);
  return 0;
}
