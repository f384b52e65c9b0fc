// options: rehash=15
#include "threads.h"
/* Objects that change hands often, more of them than one task has domains of their own open at a time (protection keys); made anew at the same place again and again;
   read by all at once. */
enum { kObjects = 9, kRounds = 2000 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int *objects[kObjects];  /* of lock, by order of its holders */
static int *shared;
static void *use(void *argument) {
  const int rounds = times(kRounds);
  int round, i, sum = 0;
  (void)argument;
  weir_acquire_read(shared);
  for (round = 0; round < rounds; round++) {
    const int some = round % kObjects + 1;
    pthread_mutex_lock(&lock);
    for (i = 0; i < some; i++) weir_acquire_write(objects[i]);
    for (i = 0; i < some; i++) ++*objects[i];
    if (round % 5 == 0) {
      const int kept = *objects[0];
      weir_free(objects[0]);
      objects[0] = (int *)weir_alloc(sizeof *objects[0], WEIR_PRIVATE);
      *objects[0] = kept;
    }
    for (i = 0; i < some; i++) weir_release_write(objects[i]);
    for (i = 0; i < kObjects; i++) weir_acquire_read(objects[i]);
    for (i = 0; i < kObjects; i++) sum += *objects[i];
    for (i = 0; i < kObjects; i++) weir_release_read(objects[i]);
    pthread_mutex_unlock(&lock);
    weir_release_read(shared);
    weir_acquire_read(shared);
    sum += *shared;
  }
  weir_release_read(shared);
  return sum ? NULL : &lock;
}
int main(void) {
  const int rounds = times(kRounds);
  pthread_t threads[4];
  int i, sum = 0;
  shared = (int *)weir_alloc(sizeof *shared, WEIR_PRIVATE);
  *shared = 1;
  weir_release_write(shared);
  for (i = 0; i < kObjects; i++) {
    objects[i] = (int *)weir_alloc(sizeof *objects[i], WEIR_PRIVATE);
    *objects[i] = 0;
    weir_release_write(objects[i]);
  }
  for (i = 0; i < 4; i++) threads[i] = begin(use, NULL);
  for (i = 0; i < 4; i++) end(threads[i]);
  for (i = 0; i < kObjects; i++) {
    weir_acquire_write(objects[i]);
    sum += *objects[i];
  }
  /* In kObjects rounds, 1 + 2 + ... + kObjects. */
  return sum == 4 * (rounds / kObjects * (kObjects * (kObjects + 1) / 2) + (rounds % kObjects) * (rounds % kObjects + 1) / 2) ? ok() : 1;
}
