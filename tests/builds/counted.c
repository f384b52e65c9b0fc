// Two threads count under a lock, and say the sum. What a compiler counts beside that, by plain
// additions, is its own affair.
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int sum;

static __attribute__((noinline)) void add(int number) {
  if (number % 3 == 0) return;
  pthread_mutex_lock(&lock);
  sum += number;
  pthread_mutex_unlock(&lock);
}

static void* body(void* unused) {
  for (int i = 0; i < 200; i++) add(i);
  return unused;
}

int main(void) {
  pthread_t threads[2];
  for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, body, NULL);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  printf("%d\n", sum);
  return 0;
}
