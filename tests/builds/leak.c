// Planted: a thread loses a block. Another block is found only by the stack of a thread that waits,
// a third one only by a register or the stack of main.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER, begun = PTHREAD_COND_INITIALIZER;
static int is_waiting;

static void* lose(void* argument) {
  char* volatile block = malloc(123);
  block[0] = 1;
  block = NULL;
  return NULL;
}

static void* hold(void* argument) {
  char* volatile block = malloc(456);
  block[0] = 1;
  pthread_mutex_lock(&lock);
  is_waiting = 1;
  pthread_cond_signal(&begun);
  for (;;) pthread_cond_wait(&never, &lock);
  return NULL;
}

int main(void) {
  pthread_t thread;
  char* block = malloc(789);
  pthread_create(&thread, NULL, lose, NULL);
  pthread_join(thread, NULL);
  pthread_create(&thread, NULL, hold, NULL);
  pthread_mutex_lock(&lock);
  while (!is_waiting) pthread_cond_wait(&begun, &lock);
  pthread_mutex_unlock(&lock);
  block[0] = 1;
  puts("done");
  fflush(stdout);
  exit(block[0] - 1);
}
