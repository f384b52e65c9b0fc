// Deposit, withdrawal and a look at the balance; the look forgets the lock.
#include "twin.h"

static int balance = 100;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* body(void* number) {
  if ((long)number == 2) {
    guard(&mutex);
    use(balance);  // RACE
    unguard(&mutex);
  } else {
    pthread_mutex_lock(&mutex);
    balance += (long)number == 0 ? 30 : -20;  // RACE
    pthread_mutex_unlock(&mutex);
  }
  return NULL;
}

int main(void) {
  run_threads(3, body);
  return 0;
}
