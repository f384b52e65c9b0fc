// Goods that several threads bring. Two bugs: `last` is not locked, which no test notices, and
// bring_hastily() loses some of them.
#pragma once
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>
struct Stock {
  std::atomic<long> count{0};
  int last = 0;  // who brought something last
  void bring(int who) {
    last = who;
    count++;
  }
  // Now and then somebody else comes in between, and one of both is lost.
  void bring_hastily() {
    const long before = count;
    if (std::chrono::steady_clock::now().time_since_epoch().count() % 16 == 0)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    count = before + 1;
  }
};
// What is in stock after some threads have each brought 1 so often.
inline long brought(int threads, int times, bool hastily) {
  Stock stock;
  std::vector<std::thread> all;
  for (int i = 0; i < threads; i++) {
    all.emplace_back([&, i] {
      for (int round = 0; round < times; round++) hastily ? stock.bring_hastily() : stock.bring(i);
    });
  }
  for (std::thread& thread : all) thread.join();
  return stock.count;
}
