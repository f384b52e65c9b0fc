// A return from main ends the process although detached threads still run, wait and hold locks.
#include "program.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t running;

static void* goes_on(void* unused) {
  pthread_mutex_lock(&lock);  // The first holds it for ever, the others wait for ever.
  CHECK_EQ(sem_post(&running), 0);
  for (;;) sched_yield();
  return unused;
}

static void* sleeps(void* unused) {
  CHECK_EQ(sem_post(&running), 0);
  for (;;) sleep(1000);
  return unused;
}

int main(int argc, char** argv) {
  pthread_t thread;
  CHECK_EQ(sem_init(&running, 0, 0), 0);
  for (long i = 0; i < argument(argc, argv, 1, 4); ++i) {
    CHECK_EQ(pthread_create(&thread, NULL, goes_on, NULL), 0);
    CHECK_EQ(pthread_detach(thread), 0);
  }
  CHECK_EQ(pthread_create(&thread, NULL, sleeps, NULL), 0);
  CHECK_EQ(pthread_detach(thread), 0);
  CHECK_EQ(sem_wait(&running), 0);
  CHECK_EQ(sem_wait(&running), 0);
  puts("main returns");
  return 26;
}
