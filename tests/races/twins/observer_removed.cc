// Observers are told in a loop over their vector while one of them is taken out.
#include "twin.h"

#include <algorithm>
#include <mutex>
#include <thread>
#include <vector>

static std::mutex mutex;
static std::vector<long*> observers;
static long values[4];

int main() {
  for (long& value : values) observers.push_back(&value);
  std::thread teller([] {
    std::unique_lock<std::mutex> guard(mutex, std::defer_lock);
    if (!RACY) guard.lock();
    for (long* const observer : observers) *observer += 1;  // RACE
  });
  std::thread leaver([] {
    const std::lock_guard<std::mutex> guard(mutex);
    const auto end = std::remove(observers.begin(), observers.end(), &values[1]);  // RACE
    observers.erase(end, observers.end());                                         // RACE
  });
  teller.join();
  leaver.join();
  use(values[0]);
  return 0;
}
