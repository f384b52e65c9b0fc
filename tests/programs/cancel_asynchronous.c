// An asynchronous cancel ends a thread in the middle of a loop that calls nothing.
#include "program.h"

static volatile unsigned long turns;
static sem_t ready;
static int cleaned;

static void clean(void* unused) { (void)unused, ++cleaned; }

static void* body(void* unused) {
  int old = -1;
  pthread_cleanup_push(clean, NULL);
  CHECK_EQ(pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &old), 0);
  CHECK_EQ(old, PTHREAD_CANCEL_DEFERRED);
  CHECK_EQ(sem_post(&ready), 0);
  for (;;) turns = turns + 1;
  pthread_cleanup_pop(0);
  return unused;
}

int main(void) {
  pthread_t thread;
  void* value = NULL;
  CHECK_EQ(sem_init(&ready, 0, 0), 0);
  CHECK_EQ(pthread_create(&thread, NULL, body, NULL), 0);
  CHECK_EQ(sem_wait(&ready), 0);
  sleep_ms(5);
  CHECK_EQ(pthread_cancel(thread), 0);
  CHECK_EQ(pthread_join(thread, &value), 0);
  CHECK(value == PTHREAD_CANCELED);
  CHECK_EQ(cleaned, 1);
  puts("cancelled in the loop");
  return 0;
}
