// Producers wait for a condition now and then, and note what they have made last.
#include "twin.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int turn, last;
static long made[2];

static void* body(void* number) {
  const int me = (int)(long)number;
  for (int round = 0; round < 20; ++round) {
    for (int k = 0; k < 3000; ++k) made[me] += k, use(k);
    pthread_mutex_lock(&mutex);
    while (turn % 2 != me) pthread_cond_wait(&changed, &mutex);
    turn++;
    if (!RACY && round == 19) last = me;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
  }
  if (RACY) {
    pause_ms(5);
    last = me;  // RACE
  }
  return NULL;
}

int main(void) {
  run_threads(2, body);
  use(last);
  return 0;
}
