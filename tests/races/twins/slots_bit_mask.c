// A bit mask says which slots are taken; the racy program clears bits without the lock.
#include "twin.h"

unsigned used;
int slots[8];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* body(void* unused) {
  pthread_mutex_lock(&mutex);
  int mine = __builtin_ctz(~used);
  used |= 1u << mine;  // RACE
  pthread_mutex_unlock(&mutex);
  slots[mine & 7]++;
  guard(&mutex);
  used &= ~(1u << mine);  // RACE
  unguard(&mutex);
  return unused;
}

int main(void) {
  run_threads(4, body);
  return 0;
}
