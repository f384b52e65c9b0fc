// A thread arms a timer for another that reads it; the racy one stores after that.
#include <sys/timerfd.h>

#include "twin.h"

static int timer, data;

static void* body(void* unused) {
  const struct itimerspec soon = {{0, 0}, {0, 5000000}};
  if (!RACY) data = 2;
  if (timerfd_settime(timer, 0, &soon, NULL) != 0) abort();
  if (RACY) data = 3;  // RACE
  return unused;
}

int main(void) {
  uint64_t times;
  timer = timerfd_create(CLOCK_MONOTONIC, 0);
  pthread_t thread = start(body, NULL);
  if (read(timer, &times, sizeof times) != sizeof times) abort();
  use(data);  // RACE
  join(thread);
  return 0;
}
