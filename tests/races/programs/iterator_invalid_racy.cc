// A reference into the vector is used after the lock was released, while another thread writes that row.
#include "program.h"

#include <mutex>
#include <thread>
#include <vector>

std::vector<long> rows(8);
std::mutex mutex;

int main() {
  std::thread writer([] {
    for (int i = 0; i < 30; ++i) {
      std::lock_guard<std::mutex> lock(mutex);
      rows[0] = i;  // RACE
    }
  });
  mutex.lock();
  long& row = rows[0];
  mutex.unlock();
  for (int i = 0; i < 30; ++i) use(row);  // RACE
  writer.join();
  return 0;
}
