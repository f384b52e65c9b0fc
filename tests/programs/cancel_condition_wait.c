// A thread cancelled in pthread_cond_wait holds the mutex again when its cleanup handler runs.
#include "program.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int waiting, unlocked;

static void unlock(void* mutex) {
  ++unlocked;  // Guarded by the mutex, which the cancelled wait took again.
  CHECK_EQ(pthread_mutex_unlock((pthread_mutex_t*)mutex), 0);
}

static void* body(void* unused) {
  CHECK_EQ(pthread_mutex_lock(&lock), 0);
  pthread_cleanup_push(unlock, &lock);
  ++waiting;
  for (;;) pthread_cond_wait(&changed, &lock);
  pthread_cleanup_pop(0);
  return unused;
}

int main(int argc, char** argv) {
  int threads = argument(argc, argv, 1, 4);
  pthread_t ids[kMaxThreads];
  for (int i = 0; i < threads; ++i) CHECK_EQ(pthread_create(&ids[i], NULL, body, NULL), 0);
  for (int there = 0; there < threads; sched_yield()) {
    CHECK_EQ(pthread_mutex_lock(&lock), 0);
    there = waiting;
    CHECK_EQ(pthread_mutex_unlock(&lock), 0);
  }
  for (int i = 0; i < threads; ++i) CHECK_EQ(pthread_cancel(ids[i]), 0);
  for (int i = 0; i < threads; ++i) {
    void* value = NULL;
    CHECK_EQ(pthread_join(ids[i], &value), 0);
    CHECK(value == PTHREAD_CANCELED);
  }
  CHECK_EQ(pthread_mutex_trylock(&lock), 0);
  CHECK_EQ(unlocked, threads);
  printf("unlocked %d\n", unlocked);
  return 0;
}
