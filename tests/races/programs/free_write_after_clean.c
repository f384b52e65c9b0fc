// The entry is found and counted in under one hold of the lock, so double use and double free are both excluded.
#include "program.h"

struct Entry {
  long key[4];
  long count;
};
struct Entry* entry;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static void* counter(void* unused) {
  pthread_mutex_lock(&mutex);
  struct Entry* found = entry;
  if (found) found->count = 1;
  pthread_mutex_unlock(&mutex);
  return unused;
}

static void* remover(void* unused) {
  pause_ms(2);
  pthread_mutex_lock(&mutex);
  free(entry);
  entry = NULL;
  pthread_mutex_unlock(&mutex);
  return unused;
}

int main(void) {
  entry = (struct Entry*)calloc(1, sizeof *entry);
  run_two(counter, remover);
  return 0;
}
