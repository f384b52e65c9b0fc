// Main reads the results when the queue of a pool is empty, or when all jobs are finished.
#include "twin.h"

enum { kJobs = 6 };
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int next_job, finished;
static long results[kJobs];

static void* worker(void* unused) {
  for (;;) {
    pthread_mutex_lock(&mutex);
    const int job = next_job < kJobs ? next_job++ : -1;
    pthread_mutex_unlock(&mutex);
    if (job < 0) return unused;
    pause_ms(job < kJobs - 2 ? 1 : 20);
    results[job] = job * job;  // RACE
    pthread_mutex_lock(&mutex);
    finished++;
    pthread_mutex_unlock(&mutex);
  }
}

int main(void) {
  pthread_t threads[2] = {start(worker, NULL), start(worker, NULL)};
  for (int done = 0; !done;) {
    pthread_mutex_lock(&mutex);
    done = RACY ? next_job == kJobs : finished == kJobs;
    pthread_mutex_unlock(&mutex);
    usleep(500);
  }
  long sum = 0;
  for (int i = 0; i < kJobs; ++i) sum += results[i];  // RACE
  use(sum);
  join(threads[0]);
  join(threads[1]);
  return 0;
}
