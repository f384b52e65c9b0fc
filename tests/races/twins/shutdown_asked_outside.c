// A worker's loop asks without the lock whether it is to end; all else is locked.
#include "twin.h"

static int is_shutting_down, jobs = 50;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* worker(void* unused) {
  for (;;) {
    if (RACY && is_shutting_down) break;  // RACE
    pthread_mutex_lock(&mutex);
    const int ends = is_shutting_down;
    if (jobs > 0) jobs--;
    pthread_mutex_unlock(&mutex);
    if (!RACY && ends) break;
    usleep(300);
  }
  return unused;
}

int main(void) {
  const pthread_t one = start(worker, NULL), two = start(worker, NULL);
  pause_ms(12);
  pthread_mutex_lock(&mutex);
  is_shutting_down = 1;  // RACE
  pthread_mutex_unlock(&mutex);
  join(one), join(two);
  return 0;
}
