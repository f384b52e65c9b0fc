// A message is stored before the lock is taken to tell of it, or after it was told.
#include "twin.h"

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

static std::mutex mutex;
static std::condition_variable told;
static bool is_told;
static char message[16];

int main() {
  std::thread sender([] {
    if (!RACY) message[0] = 'a';
    {
      const std::lock_guard<std::mutex> guard(mutex);
      is_told = true;
    }
    told.notify_one();
    if (RACY) message[0] = 'b';  // RACE
  });
  std::thread receiver([] {
    {
      std::unique_lock<std::mutex> lock(mutex);
      told.wait(lock, [] { return is_told; });
    }
    use(message[0]);  // RACE
  });
  sender.join();
  receiver.join();
  return 0;
}
