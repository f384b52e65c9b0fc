// Each thread clears 16 MB by memset, then changes a counter that nobody has touched before, under a lock.
#include "program.h"

static long pad[1024];
static long cold;
static long pad_after[1024];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
enum { kSize = 16 << 20 };

static void* body(void* number) {
  const long me = (long)number;
  char* block = malloc(kSize);
  memset(block, (int)me + 1, kSize);
  use(block[kSize / 2]);
  free(block);
  pause_ms(me ? 30 : 0);
  pthread_mutex_lock(&lock);
  cold++;
  pthread_mutex_unlock(&lock);
  return NULL;
}

int main(void) {
  pthread_t one = start(body, NULL), two = start(body, (void*)1L);
  join(one);
  join(two);
  use(cold + pad[7] + pad_after[7]);
  return 0;
}
