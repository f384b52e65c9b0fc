#include "threads.h"
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *use(void *argument) {
  int *object = (int *)argument;
  int i;
  for (i = 0; i < 300; i++) {
    pthread_mutex_lock(&lock);
    weir_acquire_write(object);
    ++*object;
    weir_release_write(object);
    pthread_mutex_unlock(&lock);
  }
  return NULL;
}
int main(void) {
  int *object = (int *)weir_alloc(sizeof *object, WEIR_PRIVATE);
  pthread_t threads[3];
  int i;
  *object = 0;
  weir_release_write(object);
  for (i = 0; i < 3; i++) threads[i] = begin(use, object);
  for (i = 0; i < 3; i++) end(threads[i]);
  weir_acquire_write(object);
  return *object == 900 ? ok() : 1;
}
