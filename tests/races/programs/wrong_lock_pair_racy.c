// Deposits hold one mutex, withdrawals another: each is locked, but nothing excludes them from each other.
#include "program.h"

pthread_mutex_t account = PTHREAD_MUTEX_INITIALIZER, log_lock = PTHREAD_MUTEX_INITIALIZER;
long balance, entries;
static void* deposit(void* unused) {
  for (int i = 0; i < 200; ++i) {
    pthread_mutex_lock(&account);
    balance += 3;  // RACE
    pthread_mutex_unlock(&account);
  }
  return unused;
}

static void* withdraw(void* unused) {
  for (int i = 0; i < 200; ++i) {
    pthread_mutex_lock(&log_lock);
    balance -= 3;  // RACE
    entries++;
    pthread_mutex_unlock(&log_lock);
  }
  return unused;
}

int main(void) {
  run_two(deposit, withdraw);
  return entries == 200 ? 0 : 1;
}
