// The lock is dropped between finding the entry and counting in it; meanwhile the other thread frees it.
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
  pthread_mutex_unlock(&mutex);
  pause_ms(6);
  if (found) found->count = 1;  // RACE
  return unused;
}

static void* remover(void* unused) {
  pause_ms(2);
  pthread_mutex_lock(&mutex);
  free(entry);  // RACE
  entry = NULL;
  pthread_mutex_unlock(&mutex);
  return unused;
}

int main(void) {
  entry = (struct Entry*)calloc(1, sizeof *entry);
  run_two(counter, remover);
  return 0;
}
