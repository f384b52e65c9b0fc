#include "threads.h"
/* What has changed hands often is still for those only who have acquired it. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int taken;
static int seen;
static void *hand_on(void *argument) {
  int *object = (int *)argument;
  int i;
  for (i = 0; i < 100; i++) {
    pthread_mutex_lock(&lock);
    weir_acquire_write(object);
    ++*object;
    weir_release_write(object);
    pthread_mutex_unlock(&lock);
  }
  return NULL;
}
static void *take(void *argument) {
  int *object = (int *)argument;
  int i;
  pthread_mutex_lock(&lock);
  for (i = 0; i < 20; i++) seen = *(volatile int *)object;  /* REPORT policy forbidden access OTHER given */
  pthread_mutex_unlock(&lock);
  return NULL;
}
int main(void) {
  int *object = (int *)weir_alloc(sizeof *object, WEIR_PRIVATE);
  pthread_t first;
  *object = 0;
  weir_release_write(object);
  first = begin(hand_on, object);
  end(first);
  alone(hand_on, object);
  pthread_mutex_lock(&lock);
  weir_acquire_write(object);
  taken = *object;
  weir_release_write(object);  /* IS given */
  pthread_mutex_unlock(&lock);
  alone(take, object);
  return seen == 200 && taken == 200 ? ok() : 1;
}
