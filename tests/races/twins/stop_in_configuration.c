// Workers read a structure in each round; main changes one member of it at the end.
#include "twin.h"

static struct {
  int rounds, step;
  volatile int stop;
} configuration = {100, 3, 0};
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* body(void* unused) {
  long sum = 0;
  for (int stopped = 0; !stopped;) {
    for (int i = 0; i < configuration.rounds; i += configuration.step) sum += i, use(sum);
    guard(&mutex);
    stopped = configuration.stop;  // RACE
    unguard(&mutex);
  }
  return unused;
}

int main(void) {
  const pthread_t one = start(body, NULL), two = start(body, NULL), three = start(body, NULL);
  pause_ms(20);
  guard(&mutex);
  configuration.stop = 1;  // RACE
  unguard(&mutex);
  join(one), join(two), join(three);
  return 0;
}
