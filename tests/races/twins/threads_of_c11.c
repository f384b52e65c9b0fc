// Threads and a lock of C11; the racy ones add without it.
#include <threads.h>

#include "twin.h"

static long total;
static mtx_t lock;

static int add(void* number) {
  for (int i = 0; i < 10; ++i) {
    if (!RACY) mtx_lock(&lock);
    total += (long)number;  // RACE
    if (!RACY) mtx_unlock(&lock);
  }
  return 0;
}

int main(void) {
  thrd_t threads[2];
  mtx_init(&lock, mtx_plain);
  for (long i = 0; i < 2; ++i) {
    if (thrd_create(&threads[i], add, (void*)i) != thrd_success) abort();
  }
  for (int i = 0; i < 2; ++i) thrd_join(threads[i], NULL);
  use(total);
  return 0;
}
