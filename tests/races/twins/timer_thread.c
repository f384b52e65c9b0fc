// A timer calls a function in a thread of its own; main asks for its count.
#include "twin.h"

#include <signal.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int ticks;

static void tick(union sigval unused) {
  (void)unused;
  pthread_mutex_lock(&mutex);
  ticks += 1;  // RACE
  pthread_mutex_unlock(&mutex);
}

int main(void) {
  timer_t timer;
  struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = tick};
  if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0) return 0;
  struct itimerspec often = {{0, 5000000}, {0, 5000000}};
  timer_settime(timer, 0, &often, NULL);
  for (int i = 0; i < 4; ++i) {
    pause_ms(8);
    guard(&mutex);
    use(ticks);  // RACE
    unguard(&mutex);
  }
  timer_delete(timer);
  pause_ms(10);
  return 0;
}
