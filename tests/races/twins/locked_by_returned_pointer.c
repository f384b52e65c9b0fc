// A function locks an entry and returns it; the racy caller uses the next one, too.
#include "twin.h"

static struct entry {
  pthread_mutex_t mutex;
  int value;
} table[3] = {{PTHREAD_MUTEX_INITIALIZER, 0}, {PTHREAD_MUTEX_INITIALIZER, 0}, {PTHREAD_MUTEX_INITIALIZER, 0}};

static struct entry* locked(int i) {
  pthread_mutex_lock(&table[i].mutex);
  return &table[i];
}

static void* body(void* number) {
  struct entry* entry = locked((int)(long)number);
  entry->value++;  // RACE
  if (RACY) entry[1].value++;  // RACE
  pthread_mutex_unlock(&entry->mutex);
  return NULL;
}

int main(void) {
  run_threads(2, body);
  use(table[1].value);
  return 0;
}
