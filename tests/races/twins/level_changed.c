// Workers ask for the level of messages in a hot loop; main changes it twice.
#include "twin.h"

static int level, done;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static int level_now(void) {
  guard(&mutex);
  const int now = level;  // RACE
  unguard(&mutex);
  return now;
}

static void* body(void* unused) {
  long messages = 0;
  for (int i = 0; i < 40000; ++i) messages += level_now() > 1;
  use(messages);
  return unused;
}

static void set_level(int now) {
  guard(&mutex);
  level = now;  // RACE
  unguard(&mutex);
}

int main(void) {
  const pthread_t one = start(body, NULL), two = start(body, NULL);
  pause_ms(3);
  set_level(1);
  pause_ms(3);
  set_level(2);
  join(one), join(two);
  use(done);
  return 0;
}
