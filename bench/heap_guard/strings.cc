// Two threads, each with a map of strings: blocks of three sizes, from few sites.
#include <cstdio>
#include <map>
#include <string>
#include <thread>

static void work(unsigned seed, size_t* left) {
  std::map<unsigned, std::string> names;
  for (int i = 0; i < 60'000; i++) {
    seed = seed * 1664525u + 1013904223u;
    const unsigned key = (seed >> 8) % 5000;
    if (seed & 64) names[key] = "a string that is longer than sixteen " + std::to_string(i);
    else names.erase(key);
  }
  *left = names.size();
}

int main() {
  size_t left[2];
  std::thread one(work, 1, &left[0]), other(work, 2, &left[1]);
  one.join();
  other.join();
  printf("%zu\n", left[0] + left[1]);
}
