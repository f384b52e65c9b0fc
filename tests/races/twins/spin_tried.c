// A spin lock is tried; the racy program goes on where it was not had.
#include "twin.h"

static pthread_spinlock_t spin;
static int value;

static void* holder(void* unused) {
  pthread_spin_lock(&spin);
  value = 1;  // RACE
  pause_ms(40);
  value = 2;  // RACE
  pthread_spin_unlock(&spin);
  return unused;
}

static void* other(void* unused) {
  pause_ms(15);
  if (pthread_spin_trylock(&spin) == 0) {
    value += 1;
    pthread_spin_unlock(&spin);
  } else if (RACY) {
    value += 1;  // RACE
  }
  return unused;
}

int main(void) {
  pthread_spin_init(&spin, 0);
  run_two(holder, other);
  use(value);
  return 0;
}
