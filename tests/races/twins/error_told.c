// Two threads have an error told in one text.
#define _GNU_SOURCE 1
#include <string.h>

int __xpg_strerror_r(int, char*, size_t);

#include "twin.h"

static char text[64];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* body(void* number) {
  guard(&mutex);
  if (__xpg_strerror_r(2, text, sizeof text) != 0) abort();  // RACE
  unguard(&mutex);
  return number;
}

int main(void) {
  run_threads(2, body);
  use(text[0]);
  return 0;
}
