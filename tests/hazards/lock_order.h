// Two threads, one after the other or side by side, run first() and second().
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER,
                       c = PTHREAD_MUTEX_INITIALIZER, gate = PTHREAD_MUTEX_INITIALIZER;
static int count;
static void lock(pthread_mutex_t* one) { pthread_mutex_lock(one); }
static void unlock(pthread_mutex_t* one) { pthread_mutex_unlock(one); }
static void nested(pthread_mutex_t* outer, pthread_mutex_t* inner) {
  pthread_mutex_lock(outer);
  pthread_mutex_lock(inner);
  count++;
  pthread_mutex_unlock(inner);
  pthread_mutex_unlock(outer);
}
static void run(void* (*function)(void*)) {
  pthread_t thread;
  pthread_create(&thread, NULL, function, NULL);
  pthread_join(thread, NULL);
}
