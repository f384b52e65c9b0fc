// An object goes from one thread to the other by an atomic flag of which nothing is declared. That is right, and protection keys do not see it.
#define _GNU_SOURCE
#include "threads.h"
static int flag;
static void *use(void *argument) {
  while (!__atomic_load_n(&flag, __ATOMIC_ACQUIRE)) usleep(1000);
  weir_acquire_write(argument);
  *(int *)argument = 5;
  weir_release_write(argument);
  __atomic_store_n(&flag, 2, __ATOMIC_RELEASE);
  return NULL;
}
int main(void) {
  int *object = (int *)weir_alloc(sizeof *object, WEIR_PRIVATE);
  pthread_t thread = begin(use, object);
  *object = 3;
  weir_release_write(object);
  __atomic_store_n(&flag, 1, __ATOMIC_RELEASE);
  while (__atomic_load_n(&flag, __ATOMIC_ACQUIRE) != 2) usleep(1000);
  weir_acquire_write(object);
  if (*object != 5) return 1;
  end(thread);
  return ok();
}
