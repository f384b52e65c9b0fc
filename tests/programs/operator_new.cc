// C++ operators new and delete of every form, containers and strings grown in one thread and
// destroyed in another.
#include "program.h"

#include <deque>
#include <map>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <vector>

struct alignas(128) Aligned {
  char bytes[128];
};

int main(int argc, char** argv) {
  int threads = argument(argc, argv, 1, 4);
  std::vector<std::unique_ptr<std::map<std::string, std::vector<int>>>> maps(threads);
  std::vector<std::thread> running;
  for (int i = 0; i < threads; ++i) {
    running.emplace_back([&, i] {
      maps[i] = std::make_unique<std::map<std::string, std::vector<int>>>();
      for (int k = 0; k < 200; ++k) (*maps[i])["key " + std::to_string(k % 40)].push_back(i + k);
      std::unique_ptr<Aligned[]> aligned(new Aligned[5]);
      CHECK_EQ(reinterpret_cast<uintptr_t>(aligned.get()) % 128, 0);
      std::deque<std::string> strings;
      for (int k = 0; k < 100; ++k) {
        strings.push_back(std::string(k * 3, 'x'));
        if (k % 3 == 0) strings.pop_front();
      }
      volatile size_t huge = SIZE_MAX / 4;
      CHECK(new (std::nothrow) char[huge] == nullptr);
      bool thrown = false;
      try {
        ::operator delete(::operator new(huge));
      } catch (const std::bad_alloc&) { thrown = true; }
      CHECK(thrown);
    });
  }
  for (auto& thread : running) thread.join();
  running.clear();
  for (int i = 0; i < threads; ++i) {
    running.emplace_back([&, i] {
      auto mine = std::move(maps[(i + 1) % threads]);
      long sum = 0;
      for (auto& [key, values] : *mine) {
        for (int value : values) sum += value;
      }
      CHECK_EQ(sum, 200L * ((i + 1) % threads) + 19900);
    });
  }
  for (auto& thread : running) thread.join();
  std::printf("moved %d maps\n", threads);
}
