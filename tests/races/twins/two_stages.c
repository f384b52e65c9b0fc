// A value is handed on by two locks; the reader takes only the second, and looks at the first's data.
#include "twin.h"

static int data, next;
static pthread_mutex_t data_lock = PTHREAD_MUTEX_INITIALIZER,
                       next_lock = PTHREAD_MUTEX_INITIALIZER;

static void* write_both(void* unused) {
  pause_ms(15);
  pthread_mutex_lock(&data_lock);
  data = 1;  // RACE
  pthread_mutex_unlock(&data_lock);
  pthread_mutex_lock(&next_lock);
  next = data + 1;
  pthread_mutex_unlock(&next_lock);
  return unused;
}

static void* read_both(void* unused) {
  guard(&data_lock);
  const int now = data;  // RACE
  unguard(&data_lock);
  pthread_mutex_lock(&next_lock);
  use(next + now);
  pthread_mutex_unlock(&next_lock);
  return unused;
}

int main(void) {
  run_two(write_both, read_both);
  return 0;
}
