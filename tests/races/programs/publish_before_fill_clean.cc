// All fields are set before the release store.
#include "program.h"

#include <atomic>
#include <thread>

struct Job {
  int id = 0, size = 0;
};
std::atomic<Job*> slot{nullptr};

int main() {
  std::thread worker([] {
    Job* job;
    while (!(job = slot.load(std::memory_order_acquire))) usleep(50);
    use(job->id);
    use(job->size);
  });
  Job job;
  job.id = 1;
  job.size = 99;
  slot.store(&job, std::memory_order_release);
  worker.join();
  return 0;
}
