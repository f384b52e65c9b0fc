// A lost update: two threads add 1 without a lock, each once. Fails where one is parted between its
// load and its store.
#include <pthread.h>
#include <stdio.h>

static int sum;

static void* add(void* argument) {
  const int before = *(volatile int*)&sum;
  *(volatile int*)&sum = before + 1;
  return argument;
}

int main(void) {
  pthread_t threads[2];
  for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, add, NULL);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  printf("%d\n", sum);
  return sum != 2;
}
