// Transfers lock the account only if the amount is large.
#include "twin.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static long balance = 1000;

static void pay(long amount) {
  const int locks = !RACY || amount > 50;
  if (locks) pthread_mutex_lock(&mutex);
  balance -= amount;  // RACE
  if (locks) pthread_mutex_unlock(&mutex);
}

static void* rich(void* unused) {
  for (int i = 0; i < 10; ++i) pay(100);
  return unused;
}

static void* poor(void* unused) {
  for (int i = 0; i < 10; ++i) pay(3);
  return unused;
}

int main(void) {
  run_two(rich, poor);
  use(balance);
  return 0;
}
