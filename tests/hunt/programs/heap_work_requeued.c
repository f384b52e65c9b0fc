// Work that queues itself again: who cancels takes it off the queue, but it may just be running.
#include "planted.h"

struct Work {
  int runs, is_queued, is_cancelled;
};
static struct Work* work;

static void* run_work(void* unused) {
  for (int i = 0; i < 3; i++) {
    lock();
    const int runs = work && work->is_queued;
    struct Work* const it = work;
    if (runs) it->is_queued = 0;
    BUG(unlock();)
    if (runs) {
      it->runs++;
      BUG(lock();)
      it->is_queued = !it->is_cancelled;
      BUG(unlock();)
    }
    FIX(unlock();)
  }
  return unused;
}

static void* cancel(void* unused) {
  lock();
  work->is_cancelled = 1;
  work->is_queued = 0;
  free(work);
  work = NULL;
  unlock();
  return unused;
}

int main(void) {
  work = calloc(1, sizeof *work);
  work->is_queued = 1;
  RUN(run_work, cancel);
  return 0;
}
