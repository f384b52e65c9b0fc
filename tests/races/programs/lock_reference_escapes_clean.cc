// A getter locks and returns a copy.
#include "program.h"

#include <mutex>
#include <thread>

class Temperature {
 public:
  void set(int to) {
    std::lock_guard<std::mutex> lock(mutex_);
    value_ = to;
  }
  int get() {
    std::lock_guard<std::mutex> lock(mutex_);
    return value_;
  }

 private:
  std::mutex mutex_;
  int value_ = 0;
};
Temperature temperature;

int main() {
  std::thread setter([] {
    for (int i = 0; i < 60; ++i) temperature.set(i), usleep(50);
  });
  for (int i = 0; i < 30; ++i) {
    int value = temperature.get();
    usleep(100);
    use(value);
  }
  setter.join();
  return 0;
}
