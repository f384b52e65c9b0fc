// Two threads exchange the cache's block for a new one by a plain pointer; the old blocks are kept, so nothing is
// freed twice.
#include "program.h"

char* cache;
static void* body(void* kept) {
  char* old = cache;           // RACE
  cache = (char*)malloc(100);  // RACE
  *(char**)kept = old;
  return kept;
}

int main(void) {
  char* kept[2] = {NULL, NULL};
  cache = (char*)malloc(100);
  pthread_t one = start(body, &kept[0]), two = start(body, &kept[1]);
  join(one);
  join(two);
  use((long)kept[0] + (long)kept[1]);
  return 0;
}
