// A producer counts and a consumer adds, with one condition for both and an `if` where a loop
// belongs: two consumers and the sum comes out wrong.
#include "planted.h"

enum { kNumbers = 4 };
static pthread_cond_t empty = PTHREAD_COND_INITIALIZER, full = PTHREAD_COND_INITIALIZER;
static int held, number, taken, sum;

static void* produce(void* unused) {
  for (int i = 1; i <= kNumbers; i++) {
    lock();
    while (held > 0) pthread_cond_wait(&empty, &g_lock);
    held++;
    number = i;
    pthread_cond_signal(&full);
    unlock();
  }
  return unused;
}

static void* add(void* unused) {
  for (int i = 0; i < kNumbers / 2; i++) {
    lock();
    BUG(if) FIX(while)(held == 0) pthread_cond_wait(&full, &g_lock);
    held--;
    taken++;
    sum += number;
    pthread_cond_signal(&empty);
    unlock();
  }
  return unused;
}

int main(void) {
  RUN(add, add, produce);
  REQUIRE(taken == kNumbers && sum == kNumbers * (kNumbers + 1) / 2);
  return 0;
}
