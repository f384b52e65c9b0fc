// C11's condition and lock hand an item over; the racy taker looks at it when it has unlocked.
#include <threads.h>

#include "twin.h"

static int is_there, item;
static mtx_t lock;
static cnd_t condition;

static void* put(void* unused) {
  for (int i = 0; i < 5; ++i) {
    mtx_lock(&lock);
    is_there = 1;
    item = i;  // RACE
    cnd_signal(&condition);
    mtx_unlock(&lock);
  }
  return unused;
}

static void* take(void* unused) {
  mtx_lock(&lock);
  while (!is_there) cnd_wait(&condition, &lock);
  if (RACY) mtx_unlock(&lock);
  use(item);  // RACE
  if (!RACY) mtx_unlock(&lock);
  return unused;
}

int main(void) {
  mtx_init(&lock, mtx_plain);
  cnd_init(&condition);
  run_two(put, take);
  return 0;
}
