// An object with a count of its owners: each counts itself in without a look, and the last to count
// itself out frees the object. The racy twin writes a field that the owners share without a lock.
#include "twin.h"

struct Session {
  int references;
  pthread_mutex_t mutex;
  long requests;
};

static struct Session* session;

static struct Session* acquire(struct Session* one) {
  __atomic_fetch_add(&one->references, 1, __ATOMIC_RELAXED);
  return one;
}

static void release(struct Session* one) {
  if (__atomic_sub_fetch(&one->references, 1, __ATOMIC_ACQ_REL)) return;
  use(one->requests);
  free(one);
}

static void* body(void* number) {
  if (number) pause_ms(20);
  struct Session* own = acquire(session);
  guard(&own->mutex);
  own->requests += 1;  // RACE
  unguard(&own->mutex);
  release(own);
  return NULL;
}

int main(void) {
  session = calloc(1, sizeof *session);
  pthread_mutex_init(&session->mutex, NULL);
  session->references = 1;
  run_threads(2, body);
  release(session);
  return 0;
}
