// A device is closed while another thread uses it: it tests the pointer, and uses it later.
#include "twin.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct box {
  int value;
  int spare[100];
} * box;

static void* closer(void* unused) {
  guard(&mutex);
  struct box* const mine = box;  // RACE
  box = NULL;                    // RACE
  pause_ms(1);
  free(mine);  // RACE
  unguard(&mutex);
  return unused;
}

static void* user(void* unused) {
  guard(&mutex);
  const struct box* const mine = box;  // RACE
  if (mine) use(mine->value);          // RACE
  unguard(&mutex);
  return unused;
}

int main(void) {
  box = calloc(1, sizeof *box);
  run_two(closer, user);
  return 0;
}
