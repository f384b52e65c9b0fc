// Two threads come to one integer by chains of pointers; one takes the lock of the outer structure
// only.
#include "twin.h"

struct inner {
  pthread_mutex_t mutex;
  int value;
};
struct outer {
  pthread_mutex_t mutex;
  struct inner** slot;
};
static struct inner inner = {PTHREAD_MUTEX_INITIALIZER, 0};
static struct inner* pointer = &inner;
static struct outer outers[2] = {{PTHREAD_MUTEX_INITIALIZER, &pointer},
                                 {PTHREAD_MUTEX_INITIALIZER, &pointer}};

static void* body(void* number) {
  struct outer* outer = &outers[(long)number];
  pthread_mutex_lock(&outer->mutex);
  struct inner* at = *outer->slot;
  guard(&at->mutex);
  at->value++;  // RACE
  unguard(&at->mutex);
  pthread_mutex_unlock(&outer->mutex);
  return number;
}

int main(void) {
  run_threads(2, body);
  return 0;
}
