// A thread waits in a loop, without an event, for what another stores.
#include <pthread.h>
#include <stdio.h>

static volatile int flag;

static void* waits(void* argument) {
  while (!flag) {}
  return argument;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, waits, NULL);
  while (!flag) flag = 1;
  pthread_join(thread, NULL);
  puts("seen");
  return 0;
}
