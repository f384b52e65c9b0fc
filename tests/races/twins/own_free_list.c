// Blocks go back to a list of the program's own, locked or not.
#include "twin.h"

struct block {
  struct block* next;
  int data[6];
};
static struct block blocks[8], *free_list;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static struct block* take(void) {
  guard(&mutex);
  struct block* const block = free_list;  // RACE
  if (block) free_list = block->next;     // RACE
  unguard(&mutex);
  return block;
}

static void give(struct block* block) {
  guard(&mutex);
  block->next = free_list;  // RACE
  free_list = block;        // RACE
  unguard(&mutex);
}

static void* body(void* number) {
  for (int i = 0; i < 20; ++i) {
    struct block* const block = take();
    if (!block) continue;
    block->data[i % 6] = (int)(long)number;  // RACE
    give(block);
  }
  return NULL;
}

int main(void) {
  for (int i = 0; i < 8; ++i) blocks[i].next = free_list, free_list = &blocks[i];
  run_threads(2, body);
  return 0;
}
