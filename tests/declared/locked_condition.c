#include "threads.h"
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static void *use(void *argument) {
  int *object = (int *)argument;
  int i;
  for (i = 0; i < 200; i++) {
    pthread_mutex_lock(&lock);
    while (*object % 2 == 0) pthread_cond_wait(&changed, &lock);
    ++*object;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
  }
  return NULL;
}
int main(void) {
  int *object = (int *)weir_alloc(sizeof *object, WEIR_PRIVATE);
  pthread_t thread;
  int i;
  *object = 0;
  weir_set_locked(object, &lock);
  thread = begin(use, object);
  for (i = 0; i < 200; i++) {
    pthread_mutex_lock(&lock);
    while (*object % 2) pthread_cond_wait(&changed, &lock);
    ++*object;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
  }
  end(thread);
  return ok();
}
