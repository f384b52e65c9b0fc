// A lost update by one instruction: two threads add 1 to memory without a lock prefix. Fails where
// one is parted between its reading and its writing.
#include <pthread.h>
#include <stdio.h>

static int sum;

static void* add(void* argument) {
  __asm__ volatile("addl $1,%0" : "+m"(sum));
  return argument;
}

int main(void) {
  pthread_t threads[2];
  for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, add, NULL);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  printf("%d\n", sum);
  return sum != 2;
}
