// Each thread sets a block of its own as thread-specific data; the key's destructor frees it.
#include "program.h"

pthread_key_t key;
static void* body(void* unused) {
  pthread_setspecific(key, calloc(1, sizeof(int)));
  for (int i = 0; i < 50; ++i) {
    int* value = (int*)pthread_getspecific(key);
    *value += i;
  }
  return unused;
}

int main(void) {
  pthread_key_create(&key, free);
  run_two(body, body);
  return 0;
}
