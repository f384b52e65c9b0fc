// While cancellation is disabled a request stays pending, and it takes effect once it is enabled
// again.
#include "program.h"

static sem_t asked, ready;
static int finished_work;

static void* body(void* unused) {
  int old = -1;
  CHECK_EQ(pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old), 0);
  CHECK_EQ(old, PTHREAD_CANCEL_ENABLE);
  CHECK_EQ(pthread_setcancelstate(99, NULL), EINVAL);
  CHECK_EQ(sem_post(&ready), 0);
  CHECK_EQ(sem_wait(&asked), 0);
  pthread_testcancel();
  sleep_ms(2);
  finished_work = 1;
  CHECK_EQ(pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL), 0);
  pthread_testcancel();
  CHECK(!"the pending request was lost");
  return unused;
}

int main(void) {
  pthread_t thread;
  void* value = NULL;
  CHECK_EQ(sem_init(&asked, 0, 0), 0);
  CHECK_EQ(sem_init(&ready, 0, 0), 0);
  CHECK_EQ(pthread_create(&thread, NULL, body, NULL), 0);
  CHECK_EQ(sem_wait(&ready), 0);
  CHECK_EQ(pthread_cancel(thread), 0);
  CHECK_EQ(sem_post(&asked), 0);
  CHECK_EQ(pthread_join(thread, &value), 0);
  CHECK(value == PTHREAD_CANCELED);
  CHECK_EQ(finished_work, 1);
  puts("cancelled after enabling");
  return 0;
}
