// Without a race: a thread adds under a mutex.
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int sum;

static void* add(void* argument) {
  for (int i = 0; i < 100; i++) {
    pthread_mutex_lock(&lock);
    sum += i;
    pthread_mutex_unlock(&lock);
  }
  return NULL;
}

int main(void) {
  pthread_t threads[2];
  for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, add, NULL);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  printf("%d\n", sum);
  return 0;
}
