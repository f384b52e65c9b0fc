// C11's cnd_t announces data that are written after the signal. gcc's tsan knows no C11 threads: it dies of SIGSEGV.
#include "program.h"

#include <threads.h>

mtx_t mutex;
cnd_t changed;
once_flag once = ONCE_FLAG_INIT;
int ready, data;
static void initialize(void) {
  mtx_init(&mutex, mtx_plain);
  cnd_init(&changed);
}

static int waiter(void* unused) {
  call_once(&once, initialize);
  mtx_lock(&mutex);
  while (!ready) cnd_wait(&changed, &mutex);
  mtx_unlock(&mutex);
  use(data);  // RACE
  return unused != NULL;
}

int main(void) {
  thrd_t thread;
  call_once(&once, initialize);
  thrd_create(&thread, waiter, NULL);
  mtx_lock(&mutex);
  ready = 1;
  cnd_signal(&changed);
  mtx_unlock(&mutex);
  data = 1;  // RACE
  thrd_join(thread, NULL);
  return 0;
}
