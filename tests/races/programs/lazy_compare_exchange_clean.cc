// The table is published by compare_exchange; who loses deletes its own, and the winner's is only read.
#include "program.h"

#include <atomic>
#include <thread>

struct Table {
  int used = 3;
};
std::atomic<Table*> table{nullptr};

static Table* get() {
  Table* seen = table.load(std::memory_order_acquire);
  if (seen) return seen;
  Table* own = new Table;
  if (table.compare_exchange_strong(seen, own, std::memory_order_acq_rel, std::memory_order_acquire)) return own;
  delete own;
  return seen;
}

static void body() {
  for (int i = 0; i < 20; ++i) { use(get()->used); }
}

int main() {
  std::thread one(body), two(body);
  one.join();
  two.join();
  delete table.load();
  return 0;
}
