// Timed waits on either clock end with ETIMEDOUT at their time with the mutex held, and with 0 when
// signalled before.
#include "program.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t on_realtime = PTHREAD_COND_INITIALIZER, on_monotonic;
static int waiting, flag;

static int reached(clockid_t clock, const struct timespec* limit) {
  struct timespec now;
  clock_gettime(clock, &now);
  return now.tv_sec > limit->tv_sec ||
         (now.tv_sec == limit->tv_sec && now.tv_nsec >= limit->tv_nsec);
}

static void* body(void* unused) {
  struct timespec limit = time_in(CLOCK_MONOTONIC, 60000);
  pthread_mutex_lock(&lock);
  waiting = 1;
  while (!flag) CHECK_EQ(pthread_cond_timedwait(&on_monotonic, &lock, &limit), 0);
  pthread_mutex_unlock(&lock);
  return unused;
}

int main(void) {
  pthread_condattr_t attributes;
  pthread_t thread;
  CHECK_EQ(pthread_condattr_init(&attributes), 0);
  CHECK_EQ(pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC), 0);
  CHECK_EQ(pthread_cond_init(&on_monotonic, &attributes), 0);
  CHECK_EQ(pthread_create(&thread, NULL, body, NULL), 0);

  CHECK_EQ(pthread_mutex_lock(&lock), 0);
  struct timespec limit = time_in(CLOCK_REALTIME, 20);
  int code;
  while ((code = pthread_cond_timedwait(&on_realtime, &lock, &limit)) == 0) {}
  CHECK_EQ(code, ETIMEDOUT);
  CHECK(reached(CLOCK_REALTIME, &limit));
  limit = time_in(CLOCK_MONOTONIC, 20);
  while ((code = pthread_cond_clockwait(&on_realtime, &lock, CLOCK_MONOTONIC, &limit)) == 0) {}
  CHECK_EQ(code, ETIMEDOUT);
  CHECK(reached(CLOCK_MONOTONIC, &limit));
  limit.tv_nsec = -1;
  CHECK_EQ(pthread_cond_timedwait(&on_realtime, &lock, &limit), EINVAL);
  CHECK_EQ(pthread_mutex_unlock(&lock), 0);
  for (int there = 0; !there; sched_yield()) {
    pthread_mutex_lock(&lock);
    there = waiting;
    pthread_mutex_unlock(&lock);
  }
  pthread_mutex_lock(&lock);
  flag = 1;
  pthread_cond_signal(&on_monotonic);
  pthread_mutex_unlock(&lock);
  CHECK_EQ(pthread_join(thread, NULL), 0);
  CHECK_EQ(pthread_cond_destroy(&on_monotonic), 0);
  puts("timed waits right");
  return 0;
}
