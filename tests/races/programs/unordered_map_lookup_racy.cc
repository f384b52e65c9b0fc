// Look-ups in an unordered_map that nobody changes are clean, but each also counts its hits in the entry.
#include "program.h"

#include <thread>
#include <unordered_map>
#include <vector>

struct Entry {
  int value = 0;
  int hits = 0;
};
std::unordered_map<int, Entry> table;

int main() {
  for (int i = 0; i < 50; ++i) table[i].value = i;
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([] {
      for (int i = 0; i < 200; ++i) {
        Entry& entry = table.find(i % 50)->second;
        ++entry.hits;  // RACE
        use(entry.value);
      }
    });
  for (auto& thread : threads) thread.join();
  return 0;
}
