// The object is published properly but too early: a field is set after the release store.
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
    use(job->size);  // RACE
  });
  Job job;
  job.id = 1;
  slot.store(&job, std::memory_order_release);
  job.size = 99;  // RACE
  worker.join();
  return 0;
}
