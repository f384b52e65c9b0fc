// The program ends while another thread asks for the time again and again: what it was told until
// then is in a recording, and the replay's end waits until it has been told as much.
#include "program.h"

enum { kTimes = 1000000 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;

static void* body(void* argument) {
  struct timespec now;
  for (int i = 0; i < kTimes; ++i) CHECK_EQ(clock_gettime(CLOCK_MONOTONIC, &now), 0);
  CHECK_EQ(pthread_mutex_lock(&lock), 0);
  for (;;) pthread_cond_wait(&never, &lock);
  return argument;
}

int main(void) {
  pthread_t id;
  CHECK_EQ(pthread_create(&id, NULL, body, NULL), 0);
  CHECK_EQ(usleep(20000), 0);
  puts("ended");
  return 0;
}
