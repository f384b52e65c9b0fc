// Threads make a tree and join their children, the racy ones not the last.
#include "twin.h"

int data;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* body(void* argument) {
  long level = (long)argument;
  pthread_t children[3];
  for (long i = 0; i < level; ++i) children[i] = start(body, (void*)i);
  pthread_mutex_lock(&mutex);
  data++;  // RACE
  pthread_mutex_unlock(&mutex);
  for (long i = 0; i < (RACY ? level - 1 : level); ++i) join(children[i]);
  return NULL;
}

int main(void) {
  join(start(body, (void*)3));
  use(data);  // RACE
  return 0;
}
