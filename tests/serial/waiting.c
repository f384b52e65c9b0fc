// Ways to wait in a loop for what another thread writes: each is seen to wait, soon.
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <unistd.h>

static volatile int flag;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, held = PTHREAD_MUTEX_INITIALIZER;
static int word = 1;

static void* reads(void* argument) {
  while (!flag) {}
  return argument;
}
static void* yields(void* argument) {
  while (!flag) sched_yield();
  return argument;
}
static void* asks(void* argument) {
  for (;;) {
    pthread_mutex_lock(&lock);
    const int seen = flag;
    pthread_mutex_unlock(&lock);
    if (seen) return argument;
  }
}
static void* tries(void* argument) {
  while (pthread_mutex_trylock(&held) != 0) {}
  pthread_mutex_unlock(&held);
  return argument;
}
static void* exchanges(void* argument) {
  for (;;) {
    int expected = 0;
    if (__atomic_compare_exchange_n(&word, &expected, 1, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
      return argument;
  }
}
static void* sleeps(void* argument) {
  while (!flag) usleep(100);
  return argument;
}
static void* sets(void* argument) {
  for (int i = 0; i < 100; i++) sched_yield();
  pthread_mutex_lock(&lock);
  flag = 1;
  pthread_mutex_unlock(&lock);
  __atomic_store_n(&word, 0, __ATOMIC_SEQ_CST);
  return argument;
}

int main(void) {
  void* (*bodies[])(void*) = {reads, yields, asks, tries, exchanges, sleeps, sets};
  enum { kCount = sizeof bodies / sizeof bodies[0] };
  pthread_t threads[kCount];
  pthread_mutex_lock(&held);
  for (int i = 0; i < kCount; i++) pthread_create(&threads[i], NULL, bodies[i], NULL);
  while (!flag) sched_yield();
  pthread_mutex_unlock(&held);
  for (int i = 0; i < kCount; i++) pthread_join(threads[i], NULL);
  puts("all");
  return 0;
}
