// Every way to join answers with the code that POSIX and glibc name: EDEADLK, EINVAL, EBUSY,
// ETIMEDOUT.
#include "program.h"

static sem_t go;

static void* waits(void* value) {
  CHECK_EQ(sem_wait(&go), 0);
  return value;
}

int main(void) {
  pthread_t thread, self = pthread_self();
  void* value = NULL;
  CHECK_EQ(sem_init(&go, 0, 0), 0);
  CHECK_EQ(pthread_join(self, NULL), EDEADLK);

  CHECK_EQ(pthread_create(&thread, NULL, waits, (void*)7), 0);
  CHECK_EQ(pthread_tryjoin_np(thread, &value), EBUSY);
  struct timespec soon = time_in(CLOCK_REALTIME, 20);
  CHECK_EQ(pthread_timedjoin_np(thread, &value, &soon), ETIMEDOUT);
  soon = time_in(CLOCK_MONOTONIC, 20);
  CHECK_EQ(pthread_clockjoin_np(thread, &value, CLOCK_MONOTONIC, &soon), ETIMEDOUT);
  CHECK_EQ(sem_post(&go), 0);
  soon = time_in(CLOCK_REALTIME, 9000);
  CHECK_EQ(pthread_timedjoin_np(thread, &value, &soon), 0);
  CHECK_EQ((long)value, 7);

  CHECK_EQ(pthread_create(&thread, NULL, waits, (void*)8), 0);
  CHECK_EQ(sem_post(&go), 0);
  int code;
  while ((code = pthread_tryjoin_np(thread, &value)) == EBUSY) sleep_ms(1);
  CHECK_EQ(code, 0);
  CHECK_EQ((long)value, 8);

  CHECK_EQ(pthread_create(&thread, NULL, waits, NULL), 0);
  CHECK_EQ(pthread_detach(thread), 0);
  CHECK_EQ(pthread_detach(thread), EINVAL);
  CHECK_EQ(pthread_join(thread, NULL), EINVAL);
  CHECK_EQ(sem_post(&go), 0);

  puts("join codes right");
  return 0;
}
