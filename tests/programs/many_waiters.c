// Threads wait for a condition while the first one computes, again and again.
// usage: many_waiters [THREADS [ROUNDS]]
#include "program.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int rounds, round_now;

static void* body(void* unused) {
  for (int seen = 0; seen < rounds;) {
    CHECK_EQ(pthread_mutex_lock(&lock), 0);
    while (seen == round_now) CHECK_EQ(pthread_cond_wait(&changed, &lock), 0);
    seen = round_now;
    CHECK_EQ(pthread_mutex_unlock(&lock), 0);
  }
  return unused;
}

static void compute(void) {
  volatile unsigned sum = 0;
  for (long i = 0; i < 4000000; ++i) sum += (unsigned)i;
}

int main(int argc, char** argv) {
  const int threads = argument(argc, argv, 1, 4);
  pthread_t made[kMaxThreads];
  rounds = argument(argc, argv, 2, 5);
  CHECK(threads > 0 && threads <= kMaxThreads);
  for (int i = 0; i < threads; ++i) CHECK_EQ(pthread_create(&made[i], NULL, body, NULL), 0);
  for (int i = 0; i < rounds; ++i) {
    compute();
    CHECK_EQ(pthread_mutex_lock(&lock), 0);
    round_now++;
    CHECK_EQ(pthread_cond_broadcast(&changed), 0);
    CHECK_EQ(pthread_mutex_unlock(&lock), 0);
  }
  for (int i = 0; i < threads; ++i) CHECK_EQ(pthread_join(made[i], NULL), 0);
  printf("%d\n", round_now);
  return 0;
}
