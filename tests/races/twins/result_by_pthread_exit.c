// A thread's result points to what it goes on to change in a destructor, or not.
#include "twin.h"

static pthread_key_t key;
static int result, other;

static void on_end(void* value) { *(int*)value += 1; }  // RACE

static void* body(void* unused) {
  pthread_setspecific(key, RACY ? &result : &other);
  pause_ms(2);
  pthread_exit(unused);
}

int main(void) {
  pthread_key_create(&key, on_end);
  pthread_t thread = start(body, NULL);
  result = 2;  // RACE
  join(thread);
  use(other);
  return 0;
}
