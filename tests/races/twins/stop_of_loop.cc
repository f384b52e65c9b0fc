// A thread's loop asks a plain bool whether it shall go on.
#include <atomic>
#include <thread>

#include "twin.h"

class Loop {
 public:
  Loop() : thread_([this] { run(); }) {}
  ~Loop() {
    goes_on_ = false;  // RACE
    thread_.join();
  }

 private:
  void run() {
    while (goes_on_) {  // RACE
      rounds_++;
      pause_ms(1);
    }
  }
#if RACY
  bool goes_on_ = true;
#else
  std::atomic<bool> goes_on_ = true;
#endif
  long rounds_ = 0;
  std::thread thread_;
};

int main() {
  Loop loop;
  pause_ms(15);
  return 0;
}
