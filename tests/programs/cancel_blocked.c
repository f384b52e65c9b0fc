// Threads blocked in read, a sleep, a semaphore, join and poll are all cancelled out of their wait.
#include <poll.h>
#include "program.h"

static int ends[2];
static sem_t never;
static pthread_t forever;

static void* in_pause(void* unused) {
  for (;;) pause();
  return unused;
}
static void* in_read(void* unused) {
  char byte;
  CHECK_EQ(read(ends[0], &byte, 1), 1);
  return unused;
}
static void* in_sleep(void* unused) {
  sleep(1000);
  return unused;
}
static void* in_semaphore(void* unused) {
  sem_wait(&never);
  return unused;
}
static void* in_join(void* unused) {
  pthread_join(forever, NULL);
  return unused;
}
static void* in_poll(void* unused) {
  struct pollfd entry = {ends[0], POLLIN, 0};
  poll(&entry, 1, -1);
  return unused;
}

int main(void) {
  void* (*const bodies[])(void*) = {in_read, in_sleep, in_semaphore, in_join, in_poll, in_pause};
  enum { kBodies = sizeof bodies / sizeof *bodies };
  pthread_t threads[kBodies];
  CHECK_EQ(pipe(ends), 0);
  CHECK_EQ(sem_init(&never, 0, 0), 0);
  CHECK_EQ(pthread_create(&forever, NULL, in_pause, NULL), 0);
  for (int i = 0; i < kBodies; ++i) CHECK_EQ(pthread_create(&threads[i], NULL, bodies[i], NULL), 0);
  sleep_ms(20);
  for (int i = 0; i < kBodies; ++i) {
    void* value = NULL;
    CHECK_EQ(pthread_cancel(threads[i]), 0);
    CHECK_EQ(pthread_join(threads[i], &value), 0);
    CHECK(value == PTHREAD_CANCELED);
  }
  CHECK_EQ(pthread_cancel(forever), 0);
  CHECK_EQ(pthread_join(forever, NULL), 0);
  printf("cancelled %d waits\n", kBodies);
  return 0;
}
