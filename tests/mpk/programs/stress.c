// options: rehash=15
// Threads, locks, hand-overs, system calls, signals and short threads, while the hash function changes all the time: nothing is wrong, and nothing is reported.
#define _GNU_SOURCE
#include <errno.h>
#include <semaphore.h>
#include <signal.h>
#include <string.h>

#include "threads.h"
enum { kThreads = 6, kLocks = 9, kRounds = 250 };
static pthread_mutex_t locks[kLocks];
static pthread_rwlock_t table_lock = PTHREAD_RWLOCK_INITIALIZER;
static long *counters[kLocks], *table, *constant;
static struct {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  long *item;
} box = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, NULL};
static sem_t posted;
static __thread long *of_handler;
static void on_signal(int signal) {
  (void)signal;
  if (of_handler) *of_handler += 1;
  sem_post(&posted);
}
static void *brief(void *argument) {
  long *own = (long *)weir_alloc(100, WEIR_PRIVATE);
  *own = 7;
  pthread_mutex_lock(&locks[0]);
  *counters[0] += *own;
  pthread_mutex_unlock(&locks[0]);
  weir_free(own);
  return argument;
}
static void fail(int line) {
  printf("line %d\n", line);
  exit(1);
}
static void *work(void *argument) {
  const long number = (long)argument;
  int pipes[2];
  long sum = 0;
  if (pipe(pipes)) fail(__LINE__);
  of_handler = (long *)weir_alloc(sizeof *of_handler, WEIR_PRIVATE);
  *of_handler = 0;
  for (long round = 0; round < kRounds; round++) {
    const long which = (round * 7 + number) % kLocks;
    char *own = (char *)weir_alloc((size_t)(round * 97 % 9000 + 16), WEIR_PRIVATE), back[16];
    memset(own, (int)round, 16);
    pthread_mutex_lock(&locks[which]);
    *counters[which] += 1;
    if (round % 5 == 0 && which + 1 < kLocks) {
      pthread_mutex_lock(&locks[which + 1]);
      *counters[which + 1] += *counters[which] * 0 + 1;
      pthread_mutex_unlock(&locks[which + 1]);
      sum++;
    }
    pthread_mutex_unlock(&locks[which]);
    sum++;
    if (write(pipes[1], own, 16) != 16) fail(__LINE__);
    memset(own, 0, 16);
    if (read(pipes[0], own, 16) != 16) fail(__LINE__);
    memcpy(back, own, 16);
    if (back[15] != (char)round) fail(__LINE__);
    if (number % 2) {
      pthread_rwlock_rdlock(&table_lock);
      if (table[0] != table[1] || *constant != 5) fail(__LINE__);
      pthread_rwlock_unlock(&table_lock);
    } else if (round % 3 == 0) {
      pthread_rwlock_wrlock(&table_lock);
      table[0]++;
      table[1]++;
      pthread_rwlock_unlock(&table_lock);
    }
    if (round % 10 == number) pthread_kill(pthread_self(), SIGUSR1);
    pthread_mutex_lock(&box.lock); /* what is in the box is whose who takes it out */
    if (box.item) {
      long *item = box.item;
      box.item = NULL;
      weir_acquire_write(item);
      pthread_mutex_unlock(&box.lock);
      *item += 1;
      weir_release_write(item);
      pthread_mutex_lock(&box.lock);
      while (box.item) pthread_cond_wait(&box.changed, &box.lock);
      box.item = item;
    }
    pthread_cond_broadcast(&box.changed);
    pthread_mutex_unlock(&box.lock);
    weir_free(own);
    if (round % 50 == 0) alone(brief, NULL);
  }
  close(pipes[0]);
  close(pipes[1]);
  weir_free(of_handler);
  of_handler = NULL;
  return (void *)sum;
}
int main(void) {
  struct sigaction action = {0};
  pthread_t threads[kThreads];
  long total = 0, found = 0;
  int value;
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  sigaction(SIGUSR1, &action, NULL);
  sem_init(&posted, 0, 0);
  for (int i = 0; i < kLocks; i++) {
    pthread_mutex_init(&locks[i], NULL);
    counters[i] = (long *)weir_alloc(sizeof(long), WEIR_PRIVATE);
    *counters[i] = 0;
    weir_set_locked(counters[i], &locks[i]);
  }
  table = (long *)weir_alloc(2 * sizeof *table, WEIR_PRIVATE);
  table[0] = table[1] = 0;
  weir_set_locked(table, &table_lock);
  constant = (long *)weir_alloc(sizeof *constant, WEIR_PRIVATE);
  *constant = 5;
  weir_set_sticky_read(constant);
  box.item = (long *)weir_alloc(sizeof(long), WEIR_PRIVATE);
  *box.item = 0;
  weir_release_write(box.item);
  for (long i = 0; i < kThreads; i++) threads[i] = begin(work, (void *)i);
  for (int i = 0; i < kThreads; i++) {
    void *sum;
    pthread_join(threads[i], &sum);
    total += (long)sum;
  }
  total += 7L * kThreads * (kRounds / 50);
  for (int i = 0; i < kLocks; i++) {
    pthread_mutex_lock(&locks[i]);
    found += *counters[i];
    pthread_mutex_unlock(&locks[i]);
  }
  if (found != total) return printf("%ld instead of %ld\n", found, total), 2;
  weir_acquire_read(box.item);
  printf("handed over %ld times\n", *box.item);
  sem_getvalue(&posted, &value);
  if (value != kThreads * (kRounds / 10)) return printf("%d signals\n", value), 3;
  return ok();
}
