// Objects with a thread each, which their owner stops by a plain bool.
#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "twin.h"

class Worker {
 public:
  Worker() : thread_([this] { work(); }) {}
  void stop() { running_ = false; }  // RACE
  ~Worker() { thread_.join(); }

 private:
  void work() {
    while (running_) {  // RACE
      rounds_++;
      std::this_thread::yield();
    }
  }
#if RACY
  bool running_ = true;
#else
  std::atomic<bool> running_{true};
#endif
  long rounds_ = 0;
  std::thread thread_;
};

int main() {
  std::vector<std::unique_ptr<Worker>> workers;
  for (int i = 0; i < 3; ++i) workers.push_back(std::make_unique<Worker>());
  pause_ms(10);
  for (auto& worker : workers) worker->stop();
  return 0;
}
