// Two unnamed semaphores hand a value to and fro between threads; counts, tries and timed waits
// answer as POSIX says.
#include "program.h"

enum { kRounds = 200 };
static sem_t ping, pong;
static long value;

static void* body(void* unused) {
  for (int i = 0; i < kRounds; ++i) {
    CHECK_EQ(sem_wait(&ping), 0);
    CHECK_EQ(value, 2 * i + 1);
    ++value;
    CHECK_EQ(sem_post(&pong), 0);
  }
  return unused;
}

int main(void) {
  pthread_t thread;
  int count = -1;
  CHECK_EQ(sem_init(&ping, 0, 0), 0);
  CHECK_EQ(sem_init(&pong, 0, 2), 0);
  CHECK_EQ(sem_getvalue(&pong, &count), 0);
  CHECK_EQ(count, 2);
  CHECK_EQ(sem_trywait(&pong), 0);
  CHECK_EQ(sem_wait(&pong), 0);
  CHECK(sem_trywait(&pong) == -1 && errno == EAGAIN);
  struct timespec soon = time_in(CLOCK_REALTIME, 15);
  CHECK(sem_timedwait(&pong, &soon) == -1 && errno == ETIMEDOUT);
  soon = time_in(CLOCK_MONOTONIC, 15);
  CHECK(sem_clockwait(&pong, CLOCK_MONOTONIC, &soon) == -1 && errno == ETIMEDOUT);
  soon.tv_nsec = -1;
  CHECK(sem_timedwait(&pong, &soon) == -1 && errno == EINVAL);
  CHECK_EQ(pthread_create(&thread, NULL, body, NULL), 0);
  for (int i = 0; i < kRounds; ++i) {
    CHECK_EQ(value, 2 * i);
    ++value;
    CHECK_EQ(sem_post(&ping), 0);
    CHECK_EQ(sem_wait(&pong), 0);
  }
  CHECK_EQ(pthread_join(thread, NULL), 0);
  CHECK_EQ(sem_destroy(&ping), 0);
  printf("value %ld\n", value);
  return 0;
}
