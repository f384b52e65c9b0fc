// An exception leaves a function that has locked by hand; whether it is thrown depends on who came
// first.
#include <mutex>
#include <stdexcept>
#include <thread>

#include "planted.h"

static std::mutex mutex;
static int entries;

static void enter(int number) {
#ifdef FIXED
  std::lock_guard<std::mutex> guard(mutex);
  if (number == 1 && entries == 0) throw std::runtime_error("not yet");
  entries++;
#else
  mutex.lock();
  if (number == 1 && entries == 0) throw std::runtime_error("not yet");
  entries++;
  mutex.unlock();
#endif
}

static void work(int number) {
  try {
    enter(number);
  } catch (const std::runtime_error&) {}
}

int main() {
  std::thread a(work, 0), b(work, 1);
  a.join();
  b.join();
  return 0;
}
