// Timed and clocked locks give up after their time on either clock, not before, and take the mutex
// when it comes free.
#include "program.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t timed_out;

static double seconds_since(clockid_t clock, const struct timespec* start) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (double)(now.tv_sec - start->tv_sec) + (double)(now.tv_nsec - start->tv_nsec) * 1e-9;
}

static void* body(void* unused) {
  struct timespec start = time_in(CLOCK_MONOTONIC, 0), limit = time_in(CLOCK_REALTIME, 20);
  CHECK_EQ(pthread_mutex_trylock(&lock), EBUSY);
  CHECK_EQ(pthread_mutex_timedlock(&lock, &limit), ETIMEDOUT);
  CHECK(seconds_since(CLOCK_MONOTONIC, &start) >= 0.018);
  limit = time_in(CLOCK_MONOTONIC, 20);
  CHECK_EQ(pthread_mutex_clocklock(&lock, CLOCK_MONOTONIC, &limit), ETIMEDOUT);
  CHECK(seconds_since(CLOCK_MONOTONIC, &limit) >= 0);
  limit = time_in(CLOCK_REALTIME, 20);
  CHECK_EQ(pthread_mutex_clocklock(&lock, CLOCK_REALTIME, &limit), ETIMEDOUT);
  CHECK_EQ(pthread_mutex_clocklock(&lock, CLOCK_PROCESS_CPUTIME_ID, &limit), EINVAL);
  limit.tv_nsec = 1000000000;
  CHECK_EQ(pthread_mutex_timedlock(&lock, &limit), EINVAL);
  CHECK_EQ(sem_post(&timed_out), 0);
  limit = time_in(CLOCK_REALTIME, 60000);
  CHECK_EQ(pthread_mutex_timedlock(&lock, &limit), 0);
  CHECK_EQ(pthread_mutex_unlock(&lock), 0);
  return unused;
}

int main(void) {
  pthread_t thread;
  CHECK_EQ(sem_init(&timed_out, 0, 0), 0);
  CHECK_EQ(pthread_mutex_lock(&lock), 0);
  CHECK_EQ(pthread_create(&thread, NULL, body, NULL), 0);
  CHECK_EQ(sem_wait(&timed_out), 0);
  sleep_ms(5);
  CHECK_EQ(pthread_mutex_unlock(&lock), 0);
  CHECK_EQ(pthread_join(thread, NULL), 0);
  struct timespec past = {0, 0};
  CHECK_EQ(pthread_mutex_timedlock(&lock, &past), 0);
  puts("timed locks right");
  return 0;
}
