// A callback holds its object by shared_from_this; two callbacks count in it.
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "twin.h"

class Session : public std::enable_shared_from_this<Session> {
 public:
  std::function<void()> callback() {
    return [self = shared_from_this()] {
      std::unique_lock<std::mutex> lock(self->mutex_, std::defer_lock);
      if (!RACY) lock.lock();
      self->count_++;  // RACE
    };
  }

 private:
  std::mutex mutex_;
  int count_ = 0;
};

int main() {
  auto session = std::make_shared<Session>();
  std::thread one(session->callback()), two(session->callback());
  session.reset();
  one.join();
  two.join();
  return 0;
}
