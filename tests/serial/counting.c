// Two threads count for ever: no loop of theirs comes back to where it was.
#include <pthread.h>

static volatile unsigned long counts[2];

static void* count(void* which) {
  for (;;) (*(volatile unsigned long*)which)++;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, count, (void*)&counts[0]);
  count((void*)&counts[1]);
  return 0;
}
