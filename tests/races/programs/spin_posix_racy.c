// A pthread spin lock is let go of before the value is stored.
#include "program.h"

pthread_spinlock_t spin;
long value;
static void* body(void* unused) {
  for (int i = 0; i < 200; ++i) {
    pthread_spin_lock(&spin);
    long seen = value;  // RACE
    pthread_spin_unlock(&spin);
    value = seen + i;  // RACE
    use(i);
  }
  return unused;
}

int main(void) {
  pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
  run_two(body, body);
  return value == 0;
}
