// What the programs about lifetimes have in common.
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <unistd.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static sem_t done;
static int count;
static pthread_t begin(void* (*function)(void*)) {
  pthread_t thread;
  pthread_create(&thread, NULL, function, NULL);
  return thread;
}
static void run(void* (*function)(void*)) { pthread_join(begin(function), NULL); }
