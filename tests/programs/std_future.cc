// Futures, promises, async and packaged tasks carry values and exceptions between threads, each at
// most once.
#include "program.h"

#include <chrono>
#include <future>
#include <stdexcept>
#include <string>
#include <vector>

using namespace std::chrono_literals;

int main(int argc, char** argv) {
  int threads = argument(argc, argv, 1, 4);
  std::vector<std::future<long>> squares;
  for (long i = 0; i < threads * 3; ++i)
    squares.push_back(std::async(std::launch::async, [i] { return i * i; }));
  long sum = 0, want = 0;
  for (auto& square : squares) sum += square.get();
  for (long i = 0; i < threads * 3; ++i) want += i * i;
  CHECK_EQ(sum, want);

  auto lazy = std::async(std::launch::deferred, [] { return std::this_thread::get_id(); });
  CHECK(lazy.wait_for(0s) == std::future_status::deferred);
  CHECK(lazy.get() == std::this_thread::get_id());

  std::packaged_task<int(int)> task(
      [](int value) -> int { throw std::runtime_error("task " + std::to_string(value)); });
  auto result = task.get_future();
  std::thread worker(std::move(task), 7);
  std::string caught;
  try {
    result.get();
  } catch (const std::runtime_error& error) { caught = error.what(); }
  worker.join();
  CHECK(caught == "task 7");

  std::promise<std::string> promise;
  std::shared_future<std::string> shared = promise.get_future().share();
  std::vector<std::thread> readers;
  for (int i = 0; i < threads; ++i)
    readers.emplace_back([shared] { CHECK(shared.get() == "given"); });
  CHECK(shared.wait_for(10ms) == std::future_status::timeout);
  promise.set_value("given");
  for (auto& reader : readers) reader.join();

  bool broken = false;
  try {
    std::future<int> left = std::promise<int>().get_future();
    left.get();
  } catch (const std::future_error& error) {
    broken = error.code() == std::future_errc::broken_promise;
  }
  CHECK(broken);
  std::printf("sum %ld %s\n", sum, caught.c_str());
}
