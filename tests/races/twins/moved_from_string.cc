// A string is moved out of by one thread while another one asks for its length.
#include <string>

#include "twin.h"

static std::string name = "a name that is longer than what fits into a string itself";
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* take(void* unused) {
  guard(&mutex);
  const std::string mine = std::move(name);  // RACE
  unguard(&mutex);
  use((long)mine.size());
  return unused;
}

static void* ask(void* unused) {
  guard(&mutex);
  use((long)name.size());  // RACE
  unguard(&mutex);
  return unused;
}

int main() {
  run_two(take, ask);
  return 0;
}
