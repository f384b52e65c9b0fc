// Planted: a thread overflows an int and shifts by too much.
#include <limits.h>
#include <pthread.h>
#include <stdio.h>

static volatile int number = INT_MAX, places = 40;

static void* add(void* argument) {
  number += 1;
  return (void*)(long)(1 << places);
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, add, NULL);
  pthread_join(thread, NULL);
  printf("%d\n", number);
  return 0;
}
