// A task that looks at another's variable under a lock that is only its own sees it change one day;
// two such tasks do so turn by turn.
#include "program.h"

enum { kTurns = 20 };
static volatile long turn;

static void* body(void* number) {
  pthread_mutex_t own;
  pthread_cond_t nobody = PTHREAD_COND_INITIALIZER;
  const long me = (long)number;
  CHECK_EQ(pthread_mutex_init(&own, NULL), 0);
  for (long i = 0; i < kTurns; ++i) {
    for (;;) {
      CHECK_EQ(pthread_mutex_lock(&own), 0);
      const long now = turn;
      if (i % 2) CHECK_EQ(pthread_cond_signal(&nobody), 0);
      CHECK_EQ(pthread_mutex_unlock(&own), 0);
      if (now == 2 * i + me) break;
    }
    turn++;
  }
  CHECK_EQ(pthread_mutex_destroy(&own), 0);
  return NULL;
}

static volatile int stop;
static void* signaller(void* unused) {
  pthread_cond_t nobody = PTHREAD_COND_INITIALIZER;
  while (!stop) pthread_cond_signal(&nobody);
  return unused;
}

int main(void) {
  pthread_t thread;
  CHECK_EQ(pthread_create(&thread, NULL, signaller, NULL), 0);
  run_threads(2, body);
  stop = 1;
  CHECK_EQ(pthread_join(thread, NULL), 0);
  CHECK_EQ(turn, 2 * kTurns);
  puts("seen");
  return 0;
}
