// Both threads set the same block as their thread-specific data.
#include "program.h"

pthread_key_t key;
int block;
static void* body(void* unused) {
  pthread_setspecific(key, &block);
  for (int i = 0; i < 50; ++i) {
    int* value = (int*)pthread_getspecific(key);
    *value += i;  // RACE
  }
  return unused;
}

int main(void) {
  pthread_key_create(&key, NULL);
  run_two(body, body);
  return 0;
}
