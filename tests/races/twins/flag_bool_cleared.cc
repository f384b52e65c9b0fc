// A member of type bool is cleared by the owner while the worker asks for it.
#include <mutex>

#include "twin.h"

struct Worker {
  std::mutex mutex;
  bool runs = true;
  int rounds = 0;
  void stop() {
    std::unique_lock<std::mutex> guard(mutex, std::defer_lock);
    if (!RACY) guard.lock();
    runs = false;  // RACE
  }
  bool asks() {
    std::unique_lock<std::mutex> guard(mutex, std::defer_lock);
    if (!RACY) guard.lock();
    return runs;  // RACE
  }
};

static Worker* worker;

static void* work(void* unused) {
  for (int i = 0; i < 50 && worker->asks(); ++i) {
    worker->rounds++;
    pause_ms(1);
  }
  return unused;
}

static void* stop(void* unused) {
  pause_ms(5);
  worker->stop();
  return unused;
}

int main() {
  worker = new Worker;
  run_two(work, stop);
  delete worker;
  return 0;
}
