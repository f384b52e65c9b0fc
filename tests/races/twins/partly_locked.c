// The writer locks, the reader of the balance does not.
#include "twin.h"

static struct {
  pthread_mutex_t mutex;
  int balance;
} account = {PTHREAD_MUTEX_INITIALIZER, 100};

static void* deposit(void* unused) {
  pthread_mutex_lock(&account.mutex);
  account.balance += 50;  // RACE
  pthread_mutex_unlock(&account.mutex);
  return unused;
}

static void* check(void* unused) {
  guard(&account.mutex);
  const int now = account.balance;  // RACE
  unguard(&account.mutex);
  use(now);
  return unused;
}

int main(void) {
  pthread_t one = start(deposit, NULL), two = start(deposit, NULL), three = start(check, NULL);
  join(one);
  join(two);
  join(three);
  return 0;
}
