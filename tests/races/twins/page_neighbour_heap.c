// As page_neighbour_read, with members of one block of the heap.
#include "twin.h"

struct Job {
  int size, steps[64], done;
};
static struct Job* job;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* worker(void* unused) {
  guard(&mutex);
  job->done = 1;  // RACE
  unguard(&mutex);
  for (int i = 0; i < 5000; ++i) job->steps[i % 64] += job->size;
  return unused;
}

static void* watcher(void* unused) {
  pause_ms(40);
  use(job->size);
  guard(&mutex);
  use(job->done);  // RACE
  unguard(&mutex);
  return unused;
}

int main(void) {
  job = calloc(1, sizeof *job);
  if (!job) return 1;
  job->size = 7;
  run_two(worker, watcher);
  free(job);
  return 0;
}
