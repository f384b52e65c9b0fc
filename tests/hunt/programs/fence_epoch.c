// Reclamation by epochs: a reader marks itself as active before it follows a pointer; the writer
// takes the object out, and frees it if no reader is active. The mark may come too late.
#include "fence.h"

static int objects[2] = {1, 1};
static int *current = &objects[0], *freed;
static int active;

static void* read_it(void* unused) {
  STORE(active, 1);
  FENCE();
  int* const object = LOAD(current);
  REQUIRE(LOAD(freed) != object);
  STORE(active, 0);
  return unused;
}

static void* reclaim(void* unused) {
  int* const old = &objects[0];
  STORE(current, &objects[1]);
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  if (!LOAD(active)) STORE(freed, old);
  return unused;
}

int main(void) {
  RUN(read_it, reclaim);
  return 0;
}
