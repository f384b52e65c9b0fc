// A worker moves a job out of a vector; the racy one does so behind the lock.
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "twin.h"

int main() {
  std::vector<std::string> jobs(4, std::string(40, 'j'));
  std::mutex mutex;
  auto body = [&] {
    for (int i = 0; i < 2; ++i) {
      std::unique_lock<std::mutex> lock(mutex);
      if (RACY) lock.unlock();
      std::string mine = std::move(jobs[3]);  // RACE
      if (!RACY) jobs[3] = mine;
      use(static_cast<long>(mine.size()));
    }
  };
  std::thread one(body), two(body);
  one.join();
  two.join();
  return 0;
}
