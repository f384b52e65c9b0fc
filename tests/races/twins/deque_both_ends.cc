// One thread puts to the end of a queue, the other takes from its front.
#include <deque>
#include <mutex>

#include "twin.h"

static std::mutex mutex;
static std::deque<int> queue{1, 2, 3, 4, 5, 6, 7, 8};

static void* put(void* unused) {
  for (int i = 0; i < 3; ++i) {
    std::unique_lock<std::mutex> guard(mutex, std::defer_lock);
    if (!RACY) guard.lock();
    queue.push_back(i);  // RACE
  }
  return unused;
}

static void* take(void* unused) {
  pause_ms(5);
  std::unique_lock<std::mutex> guard(mutex, std::defer_lock);
  if (!RACY) guard.lock();
  if (!queue.empty()) queue.pop_front();  // RACE
  return unused;
}

int main() {
  run_two(put, take);
  return 0;
}
