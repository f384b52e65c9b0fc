// The destructor of a thread-specific value adds it to a total.
#include <threads.h>

#include "twin.h"

static tss_t key;
static mtx_t mutex;
static long total;

static void add(void* value) {
  if (!RACY) mtx_lock(&mutex);
  total += *(long*)value;  // RACE
  if (!RACY) mtx_unlock(&mutex);
  free(value);
}

static int body(void* number) {
  long* const mine = malloc(sizeof *mine);
  *mine = (long)number;
  tss_set(key, mine);
  return 0;
}

int main(void) {
  tss_create(&key, add);
  mtx_init(&mutex, mtx_plain);
  thrd_t threads[2];
  for (long i = 0; i < 2; ++i) thrd_create(&threads[i], body, (void*)(i + 1));
  for (int i = 0; i < 2; ++i) thrd_join(threads[i], NULL);
  use(total);
  return 0;
}
