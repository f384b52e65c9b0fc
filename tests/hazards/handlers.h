// What the programs about signals have in common.
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static volatile sig_atomic_t came;
static __thread void* volatile kept;
static sem_t ready;
static void run(void* (*function)(void*)) {
  pthread_t thread;
  pthread_create(&thread, NULL, function, NULL), pthread_join(thread, NULL);
}
static void __attribute__((noinline)) use_the_heap(void) {
  void* volatile block = malloc(100);
  free(block);
}
static void (*during_work)(void);
static void* works(void* p) {
  for (int i = 0; i < 200; i++) during_work(), sem_post(&ready), usleep(100);
  return p;
}
// The thread works, and the main thread sends it a signal now and then.
static void during(void (*handler)(int), void (*work)(void)) {
  pthread_t thread;
  during_work = work, signal(SIGUSR1, handler), sem_init(&ready, 0, 0);
  pthread_create(&thread, NULL, works, NULL);
  for (int i = 0; i < 200; i++) {
    sem_wait(&ready);
    if (i % 50 == 10) pthread_kill(thread, SIGUSR1);
  }
  pthread_join(thread, NULL);
}
