// A set is walked through while another thread erases from it.
#include "twin.h"

#include <mutex>
#include <set>

static std::mutex mutex;
static std::set<int> numbers;

static void* eraser(void*) {
  pause_ms(10);
  std::unique_lock<std::mutex> lock(mutex, std::defer_lock);
  if (!RACY) lock.lock();
  numbers.erase(9);  // RACE
  return nullptr;
}

static void* walker(void*) {
  std::unique_lock<std::mutex> lock(mutex, std::defer_lock);
  if (!RACY) lock.lock();
  long sum = 0;
  for (const int one : numbers) sum += one;  // RACE
  use(sum);
  return nullptr;
}

int main() {
  for (int i = 0; i < 10; ++i) numbers.insert(i);
  run_two(walker, eraser);
  return 0;
}
