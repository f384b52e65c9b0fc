// Each thread copies a std::shared_ptr and changes what all copies own. The copy counts, and does
// not look at the count.
#include <memory>

#include "twin.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static std::shared_ptr<long> shared;

static void* body(void* number) {
  if (number) pause_ms(20);
  std::shared_ptr<long> copy = shared;
  guard(&mutex);
  *copy += 1;  // RACE
  unguard(&mutex);
  return nullptr;
}

int main() {
  shared = std::make_shared<long>(0);
  run_threads(2, body);
  return !RACY && *shared != 2;
}
