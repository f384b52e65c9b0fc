// A buffer with one place, and one condition for those who put and those who take: a signal meant
// for a taker wakes another producer, which finds the buffer full and goes back to sleep.
#include "planted.h"

enum { kItems = 1 };
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int is_full;

static void tell(void) {
  BUG(pthread_cond_signal(&changed);)
  FIX(pthread_cond_broadcast(&changed);)
}

static void* puts_in(void* unused) {
  for (int i = 0; i < kItems; i++) {
    lock();
    while (is_full) pthread_cond_wait(&changed, &g_lock);
    is_full = 1;
    tell();
    unlock();
  }
  return unused;
}

static void* takes_out(void* unused) {
  for (int i = 0; i < kItems; i++) {
    lock();
    while (!is_full) pthread_cond_wait(&changed, &g_lock);
    is_full = 0;
    tell();
    unlock();
  }
  return unused;
}

int main(void) {
  RUN(takes_out, takes_out, puts_in, puts_in);
  return 0;
}
