// Two threads at a time, each with a call between get() and put(). WRONG: these are no lock.
#include <pthread.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
static void get(void) {
  if (!WRONG) pthread_mutex_lock(&own);
}
static void put(void) {
  if (!WRONG) pthread_mutex_unlock(&own);
}
static int both(void* (*one)(void*), void* (*other)(void*)) {
  pthread_t thread[2];
  pthread_create(&thread[0], NULL, one, NULL);
  pthread_create(&thread[1], NULL, other, NULL);
  return pthread_join(thread[0], NULL) | pthread_join(thread[1], NULL);
}
