// Two C11 threads that take the same mtx_t. gcc's tsan knows neither thrd_create nor mtx_lock: it dies of SIGSEGV.
#include "program.h"

#include <threads.h>

mtx_t mutex;
int value;
static int careful(void* unused) {
  for (int i = 0; i < 100; ++i) {
    mtx_lock(&mutex);
    value += i;
    mtx_unlock(&mutex);
  }
  return unused != NULL;
}

static int other(void* unused) {
  for (int i = 0; i < 100; ++i) {
    mtx_lock(&mutex);
    value -= i;
    mtx_unlock(&mutex);
    use(i);
  }
  return unused != NULL;
}

int main(void) {
  thrd_t one, two;
  mtx_init(&mutex, mtx_plain);
  thrd_create(&one, careful, NULL);
  thrd_create(&two, other, NULL);
  thrd_join(one, NULL);
  thrd_join(two, NULL);
  return 0;
}
