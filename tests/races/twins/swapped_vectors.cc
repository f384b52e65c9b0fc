// One thread swaps two vectors, another one reads an element of one.
#include <vector>

#include "twin.h"

static std::vector<int> front(8, 1), back(8, 2);
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* swap(void* unused) {
  guard(&mutex);
  front.swap(back);  // RACE
  unguard(&mutex);
  return unused;
}

static void* look(void* unused) {
  guard(&mutex);
  use(front[3]);  // RACE
  unguard(&mutex);
  return unused;
}

int main() {
  run_two(swap, look);
  return 0;
}
