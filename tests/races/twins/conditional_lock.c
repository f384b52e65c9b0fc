// The lock is taken under one condition, and left under another.
#include "twin.h"

int data, want = 1;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* body(void* argument) {
  int locked = RACY ? (long)argument != 0 : want;
  if (locked) pthread_mutex_lock(&mutex);
  data = data + 1;  // RACE
  if (locked) pthread_mutex_unlock(&mutex);
  return NULL;
}

int main(void) {
  run_threads(2, body);
  return 0;
}
