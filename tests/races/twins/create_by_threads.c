// A thread makes another one of its kind; both count.
#include "twin.h"

int made;

static void* body(void* argument) {
  long left = (long)argument;
  if (!RACY) made++;
  if (left > 0) {
    pthread_t child = start(body, (void*)(left - 1));
    if (RACY) made++;  // RACE
    join(child);
  } else if (RACY) {
    made++;  // RACE
  }
  return NULL;
}

int main(void) {
  join(start(body, (void*)2));
  return 0;
}
