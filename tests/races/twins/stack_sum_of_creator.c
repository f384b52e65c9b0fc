// Threads add to a local of the function that made them, without a lock.
#include "twin.h"

struct job {
  pthread_mutex_t* mutex;
  long* sum;
  long from, to;
};

static void* body(void* argument) {
  struct job* const job = argument;
  for (long i = job->from; i < job->to; ++i) {
    guard(job->mutex);
    *job->sum += i;  // RACE
    unguard(job->mutex);
  }
  return NULL;
}

static long sum_of(long count) {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  long sum = 0;
  struct job lower = {&mutex, &sum, 0, count / 2}, upper = {&mutex, &sum, count / 2, count};
  pthread_t one = start(body, &lower), other = start(body, &upper);
  join(one);
  join(other);
  return sum;
}

int main(void) {
  use(sum_of(40));
  return 0;
}
