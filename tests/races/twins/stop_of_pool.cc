// The threads of a pool ask without its lock whether it is being stopped.
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "twin.h"

class Pool {
 public:
  Pool() {
    for (int i = 0; i < 3; ++i) threads_.emplace_back([this] { work(); });
  }
  ~Pool() {
    {
      const std::lock_guard<std::mutex> guard(mutex_);
      stopping_ = true;  // RACE
    }
    some_.notify_all();
    for (auto& thread : threads_) thread.join();
  }
  void add(int job) {
    const std::lock_guard<std::mutex> guard(mutex_);
    jobs_.push_back(job);
    some_.notify_one();
  }

 private:
  void work() {
    for (;;) {
      if (RACY && stopping_) return;  // RACE
      usleep(300);
      std::unique_lock<std::mutex> lock(mutex_);
      some_.wait_for(lock, std::chrono::milliseconds(2),
                     [this] { return stopping_ || !jobs_.empty(); });
      if (!jobs_.empty()) jobs_.pop_front();
      else if (stopping_) return;
    }
  }
  std::mutex mutex_;
  std::condition_variable some_;
  std::deque<int> jobs_;
  std::vector<std::thread> threads_;
  bool stopping_ = false;
};

int main() {
  Pool pool;
  for (int i = 0; i < 20; ++i) {
    pool.add(i);
    usleep(500);
  }
  return 0;
}
