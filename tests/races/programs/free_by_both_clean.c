// Whoever finds the block under the lock frees it and clears the pointer: never freed twice.
#include "program.h"

char* cache;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static void* body(void* kept) {
  pthread_mutex_lock(&mutex);
  if (cache) free(cache);
  cache = NULL;
  pthread_mutex_unlock(&mutex);
  return kept;
}

int main(void) {
  char* kept[2] = {NULL, NULL};
  cache = (char*)malloc(100);
  pthread_t one = start(body, &kept[0]), two = start(body, &kept[1]);
  join(one);
  join(two);
  return 0;
}
