// A list grows at its end while another thread counts it.
#include <list>
#include <mutex>

#include "twin.h"

static std::mutex mutex;
static std::list<int> items{1, 2, 3};

static void* grow(void* unused) {
  std::unique_lock<std::mutex> guard(mutex, std::defer_lock);
  if (!RACY) guard.lock();
  items.push_back(4);  // RACE
  return unused;
}

static void* count(void* unused) {
  pause_ms(5);
  std::unique_lock<std::mutex> guard(mutex, std::defer_lock);
  if (!RACY) guard.lock();
  long sum = 0;
  for (const int item : items) sum += item;  // RACE
  use(sum);
  return unused;
}

int main() {
  run_two(grow, count);
  return 0;
}
