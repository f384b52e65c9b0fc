// A worker goes on while a plain flag does not pause it.
#include "twin.h"

static volatile int is_paused, is_over;
static long steps;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static int get(volatile int* flag) {
  guard(&mutex);
  const int value = *flag;  // RACE
  unguard(&mutex);
  return value;
}

static void set(volatile int* flag, int value) {
  guard(&mutex);
  *flag = value;  // RACE
  unguard(&mutex);
}

static void* worker(void* unused) {
  while (!get(&is_over)) {
    if (get(&is_paused)) usleep(100);
    else use(++steps);
  }
  return unused;
}

int main(void) {
  const pthread_t one = start(worker, NULL), two = RACY ? one : one;
  pause_ms(4);
  set(&is_paused, 1);
  pause_ms(4);
  set(&is_paused, 0);
  pause_ms(4);
  set(&is_over, 1);
  join(two);
  return 0;
}
