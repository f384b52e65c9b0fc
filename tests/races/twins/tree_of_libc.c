// A tree of tsearch() is filled by two threads.
#include "twin.h"

#include <search.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static void* root;
static int keys[8];

static int compare(const void* a, const void* b) { return *(const int*)a - *(const int*)b; }

static void* body(void* number) {
  pause_ms(5 * (int)(long)number);
  for (int i = 0; i < 2; ++i) {
    int* key = &keys[2 * i + (int)(long)number];
    guard(&mutex);
    tsearch(key, &root, compare);  // RACE
    unguard(&mutex);
  }
  return NULL;
}

int main(void) {
  for (int i = 0; i < 8; ++i) keys[i] = i;
  run_threads(2, body);
  use((long)root);
  return 0;
}
