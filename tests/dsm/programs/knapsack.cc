// Branch and bound with a heap of nodes to look at, a std::vector in shared memory that grows under
// a lock, and the best value so far, which is read without that lock (so an old one is well: the
// search is larger, not wrong).
#include <algorithm>
#include <cstdio>
#include <vector>
#include <weir/dsm.hpp>

namespace {
constexpr int kItems = 26, kRoom = 300;
struct item {
  int weight, value;
};
struct open {
  double bound;
  int level, weight, value;
  bool operator<(const open& o) const { return bound < o.bound; }
};
using heap = std::vector<open, weir::dsm::allocator<open>>;
struct search {
  heap queue;
  int busy = 0, best = 0;
};

std::vector<item> items() {
  std::vector<item> out;
  unsigned seed = 42;
  for (int i = 0; i < kItems; i++) {
    seed = seed * 1103515245 + 12345;
    const int weight = 10 + int(seed >> 16) % 60;
    out.push_back({weight, weight + 10 + int(seed >> 8) % 7});
  }
  std::sort(out.begin(), out.end(),
            [](item a, item b) { return a.value * b.weight > b.value * a.weight; });
  return out;
}

double bound(const std::vector<item>& all, int level, int weight, int value) {
  double sum = value;
  int room = kRoom - weight;
  for (int i = level; i < kItems && room > 0; i++) {
    const int take = std::min(room, all[i].weight);
    sum += double(all[i].value) * take / all[i].weight, room -= take;
  }
  return sum;
}
}  // namespace

int main(int argc, char** argv) {
  weir::dsm::session session(argc, argv);
  const auto all = items();
  auto* shared = weir::dsm::create_shared<search>();
  if (session.node() == 0) shared->queue.push_back({bound(all, 0, 0, 0), 0, 0, 0});
  constexpr unsigned kLock = 3;
  const weir::dsm::condition changed(8);
  weir_dsm_barrier(1);
  weir::dsm::run([&](unsigned, unsigned) {
    weir::dsm::locked<weir::dsm::auto_mutex> guard(weir::dsm::auto_mutex{kLock});
    for (;;) {
      changed.wait(guard, [&] { return !shared->queue.empty() || shared->busy == 0; });
      if (shared->queue.empty()) break;
      std::vector<open> work;
      for (int i = 0; i < 20 && !shared->queue.empty(); i++) {
        std::pop_heap(shared->queue.begin(), shared->queue.end());
        work.push_back(shared->queue.back()), shared->queue.pop_back();
      }
      shared->busy++;
      int best = shared->best;
      weir_dsm_unlock(kLock);
      std::vector<open> found;
      for (const open& one : work) {
        if (one.bound <= best) continue;
        for (int takes = 0; takes < 2; takes++) {
          const int weight = one.weight + takes * all[one.level].weight,
                    value = one.value + takes * all[one.level].value;
          if (weight > kRoom) continue;
          best = std::max(best, value);
          const double limit = bound(all, one.level + 1, weight, value);
          if (one.level + 1 < kItems && limit > best)
            found.push_back({limit, one.level + 1, weight, value});
        }
      }
      weir_dsm_lock_auto(kLock);
      shared->best = std::max(shared->best, best);
      for (const open& one : found)
        shared->queue.push_back(one), std::push_heap(shared->queue.begin(), shared->queue.end());
      shared->busy--;
      changed.notify_all();
    }
  });
  weir_dsm_barrier(2);
  std::vector<int> table(kRoom + 1);
  for (const item& one : all)
    for (int room = kRoom; room >= one.weight; room--)
      table[room] = std::max(table[room], table[room - one.weight] + one.value);
  const bool right = shared->best == table[kRoom];
  weir_dsm_barrier(3);
  if (session.node() == 0) {
    std::printf("knapsack: %s (%d)\n", right ? "right" : "WRONG", shared->best);
    weir::dsm::destroy(shared);
  }
  return !right;
}
