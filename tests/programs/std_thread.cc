// std::thread: arguments by value, by reference and by move, lambdas, swap, ids and detach.
#include "program.h"

#include <atomic>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

static void append(std::string& to, std::unique_ptr<std::string> from) { to += *from; }

int main(int argc, char** argv) {
  int threads = argument(argc, argv, 1, 4);
  std::vector<std::string> words(threads, "hello");
  std::vector<std::thread::id> ids(threads);
  std::vector<std::thread> running;
  for (int i = 0; i < threads; ++i) {
    running.emplace_back([&, i] {
      ids[i] = std::this_thread::get_id();
      std::thread inner(append, std::ref(words[i]),
                        std::make_unique<std::string>(" from " + std::to_string(i)));
      inner.join();
    });
  }
  std::set<std::thread::id> distinct{std::this_thread::get_id()};
  for (auto& thread : running) distinct.insert(thread.get_id());
  CHECK_EQ(distinct.size(), threads + 1);
  for (auto& thread : running) {
    CHECK(thread.joinable());
    thread.join();
    CHECK(!thread.joinable());
  }
  for (int i = 0; i < threads; ++i) {
    CHECK(distinct.count(ids[i]) == 1);
    CHECK(words[i] == "hello from " + std::to_string(i));
  }
  std::atomic<bool> done{false};
  std::thread([&done] { done = true; }).detach();
  while (!done) std::this_thread::yield();
  CHECK(std::thread::hardware_concurrency() >= 1);
  std::printf("%s\n", words.back().c_str());
}
