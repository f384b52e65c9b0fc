// Violations in the kinds of the paper's section 5.1, for the experiments of 5.3. usage: planted KIND THREADS MILLISECONDS
//
// read    an object that is private to one thread is read by another, again and again (ferret, memcached, pbzip2)
// locked  a locked object is written without its lock, again and again (memcached)
// churn   as read, but the threads are new ones each time (streamcluster)
// once    as read, but only once, at the program's end (pbzip2)
// The other threads do nothing wrong: they have objects of their own, and take locks.
#define _GNU_SOURCE
#include <string.h>
#include <time.h>

#include "threads.h"
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long *private_object, *locked_object;
static const char *kind;
static long milliseconds;
static volatile long seen;
static long now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000 + time.tv_nsec / 1000000;
}
static void *right(void *argument) {
  const long end = now() + milliseconds;
  long *mine = (long *)weir_alloc(sizeof *mine, WEIR_PRIVATE);
  (void)argument;
  *mine = 0;
  while (now() < end) {
    *mine += 1;
    pthread_mutex_lock(&lock);
    *locked_object += 1;
    pthread_mutex_unlock(&lock);
    usleep(2000);
  }
  return NULL;
}
static void *touch_once(void *argument) {
  (void)argument;
  seen = *private_object;
  return NULL;
}
static void *wrong(void *argument) {
  const long end = now() + milliseconds;
  (void)argument;
  pthread_mutex_lock(&lock); /* from its first touch on, the object has its lock's domain */
  *locked_object += 1;
  pthread_mutex_unlock(&lock);
  while (now() < end) {
    if (!strcmp(kind, "read")) seen = *private_object;
    if (!strcmp(kind, "locked")) *locked_object = 1;
    if (!strcmp(kind, "churn")) alone(touch_once, NULL);
    usleep(2000);
  }
  if (!strcmp(kind, "once")) touch_once(NULL);
  return NULL;
}
int main(int count, char **words) {
  pthread_t threads[64];
  const long number = count > 2 ? atol(words[2]) : 2;
  kind = count > 1 ? words[1] : "read";
  milliseconds = count > 3 ? atol(words[3]) : 100;
  private_object = (long *)weir_alloc(sizeof(long), WEIR_PRIVATE);
  locked_object = (long *)weir_alloc(sizeof(long), WEIR_PRIVATE);
  *private_object = *locked_object = 0;
  weir_set_locked(locked_object, &lock);
  for (long i = 1; i < number && i < 64; i++) threads[i] = begin(i == 1 ? wrong : right, NULL);
  for (long i = 1; i < number && i < 64; i++) end(threads[i]);
  return ok();
}
