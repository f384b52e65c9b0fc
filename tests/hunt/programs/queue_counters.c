// A queue whose ends are counted each under a lock of its own, while the number of items is counted
// under none: `count++` is one instruction, which others come into nevertheless.
#include "planted.h"

enum { kItems = 5 };
static pthread_mutex_t put_lock = PTHREAD_MUTEX_INITIALIZER, take_lock = PTHREAD_MUTEX_INITIALIZER;
static int items[kItems], puts_made, takes_made, count;

static void* put(void* unused) {
  for (int i = 0; i < kItems; i++) {
    pthread_mutex_lock(&put_lock);
    items[puts_made++] = i;
    FIX(lock();)
    count++;
    FIX(unlock();)
    pthread_mutex_unlock(&put_lock);
  }
  return unused;
}

static void* take(void* unused) {
  for (int i = 0; i < kItems; i++) {
    pthread_mutex_lock(&take_lock);
    FIX(lock();)
    if (count > 0) {
      REQUIRE(items[takes_made] == takes_made);
      takes_made++;
      count--;
    }
    FIX(unlock();)
    pthread_mutex_unlock(&take_lock);
  }
  return unused;
}

int main(void) {
  RUN(put, take);
  REQUIRE(count == puts_made - takes_made);
  return 0;
}
