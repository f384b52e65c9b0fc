// An order violation: a thread reads through a pointer that its maker sets after it was made.
#include <pthread.h>
#include <stdlib.h>

static int* volatile shared;

static void* reader(void* argument) {
  (void)argument;
  return (void*)(long)*shared;
}

int main(void) {
  pthread_t thread;
  static volatile int work[10];
  pthread_create(&thread, NULL, reader, NULL);
  for (int i = 0; i < 10; i++) work[i] = i;
  int* made = malloc(sizeof *made);
  *made = 0;
  shared = made;
  pthread_join(thread, NULL);
  return 0;
}
