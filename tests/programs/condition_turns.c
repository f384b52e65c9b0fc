// Threads take turns in a ring by broadcasts on one condition variable; the turns are printed as
// they happened.
#include "program.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int threads, turn;
static char order[4096];

static void* body(void* number) {
  for (int i = 0; i < 50; ++i) {
    CHECK_EQ(pthread_mutex_lock(&lock), 0);
    while (turn % threads != (int)(long)number) CHECK_EQ(pthread_cond_wait(&changed, &lock), 0);
    order[turn++ % sizeof order] = (char)('a' + (long)number % 26);
    CHECK_EQ(pthread_cond_broadcast(&changed), 0);
    CHECK_EQ(pthread_mutex_unlock(&lock), 0);
  }
  return NULL;
}

int main(int argc, char** argv) {
  threads = argument(argc, argv, 1, 4);
  run_threads(threads, body);
  CHECK_EQ(turn, threads * 50);
  printf("%.60s\n", order);
  return 0;
}
