// A barber looks for customers, finds none, and goes to sleep; one that came in between waits for
// him.
#include "planted.h"

static pthread_cond_t came = PTHREAD_COND_INITIALIZER, done = PTHREAD_COND_INITIALIZER;
static int waiting, served;

static void* barber(void* unused) {
  for (int i = 0; i < 2; i++) {
    lock();
    BUG(const int is_empty = waiting == 0; unlock(); lock();
        if (is_empty) pthread_cond_wait(&came, &g_lock);)
    FIX(while (waiting == 0) pthread_cond_wait(&came, &g_lock);)
    if (waiting > 0) {
      waiting--;
      served++;
      pthread_cond_broadcast(&done);
    }
    unlock();
  }
  return unused;
}

static void* customer(void* unused) {
  lock();
  waiting++;
  pthread_cond_signal(&came);
  unlock();
  return unused;
}

int main(void) {
  RUN(barber, customer, customer);
  REQUIRE(served == 2);
  return 0;
}
