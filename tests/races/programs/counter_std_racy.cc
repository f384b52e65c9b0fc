// Three std::threads increment one int that no mutex guards.
#include "program.h"

#include <mutex>
#include <thread>
#include <vector>

int counter;

int main() {
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i)
    threads.emplace_back([] {
      for (int j = 0; j < 300; ++j) {
        counter += j;  // RACE
        use(j);
      }
    });
  for (auto& thread : threads) thread.join();
  return counter == 0;
}
