// std::random_device, hash seeds' likes and clocks of C++, in threads.
#include <unistd.h>
#include <chrono>
#include <cstdio>
#include <random>
#include <string>
#include <thread>
#include <vector>

int main() {
  std::vector<std::string> lines(4);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; i++) {
    threads.emplace_back([&lines, i] {
      for (const char* source : {"default", "rdrand", "rdseed", "/dev/urandom"}) {
        try {
          std::random_device device(source);
          lines[i] += std::string(source) + " " + std::to_string(device()) + " " +
                      std::to_string(device()) + "; ";
        } catch (const std::exception&) { lines[i] += std::string(source) + " is not there; "; }
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(3));
      lines[i] += std::to_string(std::chrono::system_clock::now().time_since_epoch().count());
      lines[i] += " " + std::to_string(std::chrono::steady_clock::now().time_since_epoch().count());
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& line : lines) std::printf("%s\n", line.c_str());
  std::printf("%d %d\n", getpid(), getppid());
  return 0;
}
