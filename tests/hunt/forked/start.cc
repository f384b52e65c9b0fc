// Threads and objects before main: the first thread is made by a constructor.
#include <cstdio>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

struct Table {
  std::map<std::string, int> words;
  std::mutex mutex;
  std::vector<std::thread> threads;
  Table() {
    for (int i = 0; i < 20; i++) words["word " + std::to_string(i)] = i;
    for (int i = 0; i < 2; i++) {
      threads.emplace_back([this, i] {
        try {
          if (i == 1) throw std::runtime_error("thrown");
          const std::lock_guard guard(mutex);
          words["first"]++;
        } catch (const std::exception& error) { words[error.what()] += 2; }
      });
    }
  }
  ~Table() {
    for (const auto& [word, value] : words) std::printf("%s=%d ", word.c_str(), value);
  }
};

Table table;
thread_local std::unique_ptr<int> own = std::make_unique<int>(3);

}  // namespace

int main() {
  for (std::thread& thread : table.threads) thread.join();
  std::thread last([] { ++*own; });
  last.join();
  std::printf("%d %zu\n", *own, table.words.size());
  return 0;
}
