// Two threads hand a ball back and forth, forty times. In one round the lock is let go of
// between the look and the wait, so the other's notice may come in between. How often a thread
// waits differs from schedule to schedule, so its events are counted otherwise in each.
#include "planted.h"

enum { kRounds = 40 };
static pthread_cond_t moved = PTHREAD_COND_INITIALIZER;
static int holder;

static void* play(void* number) {
  const int me = (int)(long)number;
  for (int i = 0; i < kRounds; i++) {
    lock();
    BUG(if (i == 35 && me == 0 && holder != me) {
      unlock();
      lock();
      pthread_cond_wait(&moved, &g_lock);
    })
    while (holder != me) pthread_cond_wait(&moved, &g_lock);
    __atomic_store_n(&holder, 1 - me, __ATOMIC_SEQ_CST);
    pthread_cond_signal(&moved);
    unlock();
  }
  return NULL;
}

int main(void) {
  RUN(play, play);
  return 0;
}
