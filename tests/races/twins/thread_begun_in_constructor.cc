// A constructor begins a thread before the members that the thread reads are made.
#include <thread>

#include "twin.h"

class Worker {
 public:
  Worker() {
    if (RACY) thread_ = std::thread([this] { run(); });
    pause_ms(10);
    limit_ = 6;  // RACE
    if (!RACY) thread_ = std::thread([this] { run(); });
  }
  ~Worker() { thread_.join(); }

 private:
  void run() { use(limit_); }  // RACE
  int limit_ = 0;
  std::thread thread_;
};

int main() {
  Worker worker;
  return 0;
}
