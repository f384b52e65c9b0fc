// A pointer goes through a pipe; the receiver uses and frees the block, the sender never looks back.
#include "program.h"

int ends[2];
static void* receiver(void* unused) {
  for (int i = 0; i < 5; ++i) {
    long* block;
    if (read(ends[0], &block, sizeof block) != sizeof block) abort();
    block[8] += 1;
    free(block);
  }
  return unused;
}

static void* sender(void* unused) {
  for (int i = 0; i < 5; ++i) {
    long* block = (long*)calloc(10, sizeof *block);
    block[8] = i;
    if (write(ends[1], &block, sizeof block) != sizeof block) abort();
  }
  return unused;
}

int main(void) {
  if (pipe(ends) != 0) return 1;
  run_two(receiver, sender);
  return 0;
}
