#include "threads.h"
static int *flag; /* a program may order its threads by it */
static void *use(void *argument) {
  while (!__atomic_load_n(flag, __ATOMIC_ACQUIRE)) usleep(1000);
  weir_acquire_write(argument);
  *(int *)argument = 5;
  weir_release_write(argument);
  return NULL;
}
int main(void) {
  int *object = (int *)weir_alloc(sizeof *object, WEIR_PRIVATE);
  pthread_t thread;
  flag = (int *)weir_alloc(sizeof *flag, WEIR_RACY);
  *flag = 0;
  thread = begin(use, object);
  *object = 3;
  later();
  weir_release_write(object);
  __atomic_store_n(flag, 1, __ATOMIC_RELEASE);
  end(thread);
  weir_acquire_write(object);
  return *object == 5 ? ok() : 1;
}
