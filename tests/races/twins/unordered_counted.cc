// A hash table grows while another thread asks how many buckets it has.
#include <mutex>
#include <unordered_map>

#include "twin.h"

static std::mutex mutex;
static std::unordered_map<int, int> table;

static void* grow(void* unused) {
  for (int i = 0; i < 40; ++i) {
    std::unique_lock<std::mutex> guard(mutex, std::defer_lock);
    if (!RACY) guard.lock();
    table[i] = i;  // RACE
  }
  return unused;
}

static void* ask(void* unused) {
  pause_ms(5);
  std::unique_lock<std::mutex> guard(mutex, std::defer_lock);
  if (!RACY) guard.lock();
  use(static_cast<long>(table.bucket_count()));  // RACE
  return unused;
}

int main() {
  run_two(grow, ask);
  return 0;
}
