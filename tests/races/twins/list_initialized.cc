// A virtual base is initialized while a thread of another base looks at it.
#include <thread>

#include "twin.h"

struct Level {
  int level = 0;
};
struct Watching : virtual Level {
  std::thread thread;
  explicit Watching(bool early) {
    if (early) watch();
  }
  void watch() {
    thread = std::thread([this] { use(level); });  // RACE
  }
};
struct Device : Watching {
  explicit Device(bool early) : Watching(early) { level = 3; }  // RACE
};

int main() {
  Device device(RACY);
  if (!RACY) device.watch();
  device.thread.join();
  return 0;
}
