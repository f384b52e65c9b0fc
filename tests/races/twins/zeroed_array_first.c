// A function zeroes a large array on its stack before it counts.
#include "twin.h"

int count;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

__attribute__((noinline)) static void clear(long* cells) {
  for (int i = 0; i < 100; ++i) cells[i] = 0;
}

static void* body(void* argument) {
  long cells[100];
  clear(cells);
  guard(&mutex);
  *(int*)argument += 1 + (int)cells[3];  // RACE
  unguard(&mutex);
  return NULL;
}

int main(void) {
  long cells[200] = {0};
  int local = 0;
  pthread_t one = start(body, &local);
  memset(cells, 0, sizeof cells);
  use((long)cells);
  char* block = (char*)malloc(100);
  use((long)block);
  pthread_t two = start(body, &local);
  join(one);
  join(two);
  free(block);
  return local == 2 ? 0 : 0;
}
