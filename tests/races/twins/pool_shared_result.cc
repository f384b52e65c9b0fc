// The jobs of a pool keep the greatest of what they have found, under the pool's lock or without.
#include "twin.h"

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

class Pool {
 public:
  explicit Pool(int count) {
    for (int i = 0; i < count; ++i) threads_.emplace_back([this] { work(); });
  }
  ~Pool() {
    {
      const std::lock_guard<std::mutex> guard(mutex_);
      is_closed_ = true;
    }
    some_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }
  void add(std::function<void()> job) {
    const std::lock_guard<std::mutex> guard(mutex_);
    jobs_.push_back(std::move(job));
    some_.notify_one();
  }

 private:
  void work() {
    for (;;) {
      std::unique_lock<std::mutex> lock(mutex_);
      some_.wait(lock, [this] { return is_closed_ || !jobs_.empty(); });
      if (jobs_.empty()) return;
      const std::function<void()> job = std::move(jobs_.front());
      jobs_.pop_front();
      lock.unlock();
      job();
    }
  }
  std::mutex mutex_;
  std::condition_variable some_;
  std::deque<std::function<void()>> jobs_;
  std::vector<std::thread> threads_;
  bool is_closed_ = false;
};

static std::mutex of_best;
static int best;

int main() {
  {
    Pool pool(3);
    for (int i = 0; i < 12; ++i) {
      pool.add([i] {
        pause_ms(1);
        std::unique_lock<std::mutex> lock(of_best, std::defer_lock);
        if (!RACY) lock.lock();
        if (i * 5 % 12 > best) best = i * 5 % 12;  // RACE
      });
    }
  }
  use(best);
  return 0;
}
