// After the barrier a thread stores for the next phase what another still reads of this one.
#include "twin.h"

int cells[2], sum;
static pthread_barrier_t barrier;

static void* writer(void* unused) {
  cells[0] = 1;
  pthread_barrier_wait(&barrier);
  if (!RACY) pthread_barrier_wait(&barrier);
  cells[0] = 2;  // RACE
  return unused;
}

static void* reader(void* unused) {
  pthread_barrier_wait(&barrier);
  sum = cells[0];  // RACE
  if (!RACY) pthread_barrier_wait(&barrier);
  return unused;
}

int main(void) {
  pthread_barrier_init(&barrier, NULL, 2);
  run_two(writer, reader);
  use(sum + cells[0]);
  return 0;
}
