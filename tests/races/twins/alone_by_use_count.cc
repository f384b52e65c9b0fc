// Who believes that it is alone with an object changes it; another thread has just taken a copy.
#include <memory>

#include "twin.h"

static std::shared_ptr<int> shared = std::make_shared<int>(1);
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* change(void* unused) {
  guard(&mutex);
  *shared = 2;  // RACE
  unguard(&mutex);
  return unused;
}

static void* copy(void* unused) {
  guard(&mutex);
  const std::shared_ptr<int> mine = shared;
  use(*mine);  // RACE
  unguard(&mutex);
  return unused;
}

int main() {
  run_two(change, copy);
  return 0;
}
