// A lambda that has captured `this` counts on in a thread while the object is read.
#include "twin.h"

#include <thread>

class Service {
 public:
  void begin() {
    thread_ = std::thread([this] {
      pause_ms(5);
      count_ += 1;  // RACE
    });
  }
  int finish() {
    if (!RACY) thread_.join();
    const int count = count_;  // RACE
    if (RACY) thread_.join();
    return count;
  }

 private:
  int count_ = 0;
  std::thread thread_;
};

int main() {
  Service service;
  service.begin();
  use(service.finish());
  return 0;
}
