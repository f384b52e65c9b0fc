// counter THREADS: counts under a lock, and says how far it came.
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>
int main(int, char** arguments) {
  std::mutex mutex;
  long sum = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < std::atoi(arguments[1]); i++) {
    threads.emplace_back([&] {
      for (int round = 0; round < 1000; round++) {
        const std::lock_guard<std::mutex> guard(mutex);
        sum++;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::printf("%ld\n", sum);
}
