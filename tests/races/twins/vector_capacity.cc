// One thread asks for the size of a vector to which another one appends.
#include <vector>

#include "twin.h"

std::vector<int> values;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* writer(void* unused) {
  pthread_mutex_lock(&mutex);
  values.push_back(3);  // RACE
  pthread_mutex_unlock(&mutex);
  return unused;
}

static void* reader(void* unused) {
  guard(&mutex);
  use(static_cast<long>(values.size()));  // RACE
  unguard(&mutex);
  return unused;
}

int main() {
  run_two(writer, reader);
  return 0;
}
