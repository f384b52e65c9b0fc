// A thread walks a list by an iterator, while another one changes an element.
#include <list>

#include "twin.h"

static std::list<int> numbers = {1, 2, 3, 4};
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* walk(void* unused) {
  long sum = 0;
  guard(&mutex);
  for (auto at = numbers.begin(); at != numbers.end(); ++at) sum += *at;  // RACE
  unguard(&mutex);
  use(sum);
  return unused;
}

static void* change(void* unused) {
  guard(&mutex);
  numbers.back() += 5;  // RACE
  unguard(&mutex);
  return unused;
}

int main() {
  run_two(walk, change);
  return 0;
}
