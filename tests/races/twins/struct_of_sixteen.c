// A struct of 16 bytes is assigned as a whole by two threads.
#include "twin.h"

struct Pair {
  long first, second;
};
static struct Pair pair;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* body(void* argument) {
  const struct Pair* mine = argument;
  guard(&mutex);
  pair = *mine;  // RACE
  unguard(&mutex);
  return NULL;
}

int main(void) {
  struct Pair one = {1, 2}, two = {3, 4};
  pthread_t first = start(body, &one), second = start(body, &two);
  join(first);
  join(second);
  use(pair.first);
  return 0;
}
