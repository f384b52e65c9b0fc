// An atomicity violation: what was looked at under a lock has changed when it is used under the
// lock again.
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int money = 100;

static int look(void) {
  pthread_mutex_lock(&lock);
  const int value = money;
  pthread_mutex_unlock(&lock);
  return value;
}

static void* withdraw(void* argument) {
  if (look() < 100) return argument;
  pthread_mutex_lock(&lock);
  money -= 100;
  pthread_mutex_unlock(&lock);
  return argument;
}

int main(void) {
  pthread_t threads[2];
  for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, withdraw, NULL);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  if (money < 0) abort();
  return 0;
}
