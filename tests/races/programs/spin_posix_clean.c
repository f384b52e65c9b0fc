// A pthread spin lock is held from the load to the store of the value.
#include "program.h"

pthread_spinlock_t spin;
long value;
static void* body(void* unused) {
  for (int i = 0; i < 200; ++i) {
    pthread_spin_lock(&spin);
    long seen = value;
    value = seen + i;
    pthread_spin_unlock(&spin);
    use(i);
  }
  return unused;
}

int main(void) {
  pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
  run_two(body, body);
  return value == 0;
}
