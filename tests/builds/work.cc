// Threads, containers, exceptions that cross functions, and thread-local objects of the C++
// library.
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

std::mutex lock;
std::map<std::string, int> counts;
thread_local std::vector<std::unique_ptr<std::string>> own;

void count(int number) {
  own.push_back(std::make_unique<std::string>("number " + std::to_string(number % 7)));
  if (number % 50 == 0) throw std::runtime_error(*own.back());
  const std::lock_guard<std::mutex> guard(lock);
  counts[*own.back()]++;
}

}  // namespace

int main() {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; i++) {
    threads.emplace_back([i] {
      for (int number = i; number < 400; number += 4) {
        try {
          count(number);
        } catch (const std::runtime_error& error) {
          const std::lock_guard<std::mutex> guard(lock);
          counts[std::string("thrown ") + error.what()]++;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& [name, times] : counts) std::cout << name << ": " << times << "\n";
}
