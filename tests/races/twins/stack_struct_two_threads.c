// A thread makes two more and gives both the struct on its own stack.
#include "twin.h"

struct job {
  pthread_mutex_t mutex;
  int done;
};

static void* helper(void* argument) {
  struct job* job = (struct job*)argument;
  guard(&job->mutex);
  job->done++;  // RACE
  unguard(&job->mutex);
  return NULL;
}

static void* leader(void* unused) {
  struct job job = {PTHREAD_MUTEX_INITIALIZER, 0};
  pthread_t one = start(helper, &job), two = start(helper, &job);
  join(one);
  join(two);
  use(job.done);
  return unused;
}

int main(void) {
  join(start(leader, NULL));
  return 0;
}
