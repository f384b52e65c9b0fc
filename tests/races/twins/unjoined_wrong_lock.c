// Main counts under another lock than its thread and returns without having joined it.
#include "twin.h"

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
int counter;

static void* body(void* unused) {
  pthread_mutex_lock(&first);
  counter++;  // RACE
  pthread_mutex_unlock(&first);
  return unused;
}

int main(void) {
  pthread_mutex_t* mine = RACY ? &second : &first;
  start(body, NULL);
  pthread_mutex_lock(mine);
  counter++;  // RACE
  pthread_mutex_unlock(mine);
  return 0;
}
