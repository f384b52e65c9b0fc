// A pipeline of read, work and ordered write stages, as parallel compressors have it, gives the
// sequential output.
#include "program.h"

#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

struct Job {
  int number;
  std::string text;
};

static std::mutex lock;
static std::condition_variable work_ready, result_ready;
static std::deque<Job> todo;
static std::map<int, std::string> done;
static bool closed;

static std::string transform(const std::string& text) {
  uint32_t sum = 17;
  for (char c : text) sum = sum * 31 + static_cast<unsigned char>(c);
  return text.substr(0, 3) + std::to_string(sum);
}

static void worker() {
  for (;;) {
    std::unique_lock guard(lock);
    work_ready.wait(guard, [] { return closed || !todo.empty(); });
    if (todo.empty()) return;
    Job job = std::move(todo.front());
    todo.pop_front();
    guard.unlock();
    std::string result = transform(job.text);
    guard.lock();
    done.emplace(job.number, std::move(result));
    result_ready.notify_all();
  }
}

int main(int argc, char** argv) {
  constexpr int kJobs = 80;
  std::vector<std::thread> workers;
  std::string output, want;
  std::thread writer([&] {
    for (int next = 0; next < kJobs; ++next) {
      std::unique_lock guard(lock);
      result_ready.wait(guard, [&] { return done.count(next) == 1; });
      output += done.extract(next).mapped();
    }
  });
  for (int i = 0; i < argument(argc, argv, 1, 4); ++i) workers.emplace_back(worker);
  for (int i = 0; i < kJobs; ++i) {
    std::string text = "job" + std::string(200 + i * 13 % 300, static_cast<char>('a' + i % 26));
    want += transform(text);
    std::lock_guard guard(lock);
    todo.push_back({i, std::move(text)});
    work_ready.notify_one();
  }
  {
    std::lock_guard guard(lock);
    closed = true;
  }
  work_ready.notify_all();
  for (auto& thread : workers) thread.join();
  writer.join();
  CHECK(output == want);
  std::printf("%s\n", transform(output).c_str());
}
