// Threads lend the address of their thread_local counter to main, which reads it while they count.
#include <mutex>

#include "twin.h"

static thread_local long counter;
static std::mutex mutex;
static long* lent;

static void* body(void*) {
  {
    const std::lock_guard<std::mutex> guard(mutex);
    lent = &counter;
  }
  for (int i = 0; i < 20; ++i) {
    std::unique_lock<std::mutex> guard(mutex, std::defer_lock);
    if (!RACY) guard.lock();
    counter++;  // RACE
    if (!RACY) guard.unlock();
    pause_ms(1);
  }
  return nullptr;
}

int main() {
  pthread_t thread = start(body, nullptr);
  pause_ms(8);
  std::unique_lock<std::mutex> guard(mutex);
  long* theirs = lent;
  if (RACY) guard.unlock();
  if (theirs) use(*theirs);  // RACE
  if (!RACY) guard.unlock();
  join(thread);
  return 0;
}
