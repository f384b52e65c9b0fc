// Queens on a board, by work stealing: each worker has a deque in shared memory under its own lock,
// and takes from the others' when its own is empty. How many tasks are left is counted under one
// more lock; who finds nothing waits for a condition.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <weir/dsm.hpp>

namespace {

constexpr unsigned kSize = 9, kSplit = 4, kRoom = 2000;
constexpr unsigned kAll = (1u << kSize) - 1;
struct task {
  unsigned row, columns, left, right;
};
struct deque {
  unsigned bottom, top;
  task tasks[kRoom];
};
struct pool {
  unsigned left, version;
  long ways;
};

long ways(const task& t) {
  if (t.row == kSize) return 1;
  long sum = 0;
  for (unsigned free = kAll & ~(t.columns | t.left | t.right); free; free &= free - 1) {
    const unsigned queen = free & -free;
    sum += ways({t.row + 1, t.columns | queen, (t.left | queen) << 1, (t.right | queen) >> 1});
  }
  return sum;
}

}  // namespace

int main(int argc, char** argv) {
  weir::dsm::session session(argc, argv);
  auto* shared = weir::dsm::create_shared<pool>();
  const unsigned workers =
      session.nodes() *
      std::max(1,
               std::atoi(std::getenv("WEIR_DSM_THREADS") ? std::getenv("WEIR_DSM_THREADS") : "1"));
  std::vector<deque*> deques(workers);
  for (deque*& one : deques) one = weir::dsm::create_shared<deque>();
  if (session.node() == 0) deques[0]->tasks[0] = {0, 0, 0, 0}, deques[0]->top = 1, shared->left = 1;
  constexpr unsigned kPool = 1000;
  const weir::dsm::condition more(5);
  weir::dsm::run([&](unsigned worker, unsigned) {
    const auto take = [&](unsigned of, task* out) {
      const weir::dsm::locked<weir::dsm::auto_mutex> guard(weir::dsm::auto_mutex{of});
      deque& d = *deques[of];
      if (d.bottom == d.top) return false;
      *out = of == worker ? d.tasks[--d.top] : d.tasks[d.bottom++];
      if (d.bottom == d.top) d.bottom = d.top = 0;
      return true;
    };
    long mine = 0;
    for (;;) {
      unsigned seen;
      {
        const weir::dsm::locked<> guard(kPool);
        if (!shared->left) break;
        seen = shared->version;
      }
      task t;
      bool has = take(worker, &t);
      for (unsigned i = 1; i < workers && !has; i++) has = take((worker + i) % workers, &t);
      if (!has) {
        weir::dsm::locked<> guard(kPool);
        more.wait(guard, [&] { return !shared->left || shared->version != seen; });
        continue;
      }
      unsigned made = 0;
      if (t.row < kSplit) {
        const weir::dsm::locked<weir::dsm::auto_mutex> guard(weir::dsm::auto_mutex{worker});
        for (unsigned free = kAll & ~(t.columns | t.left | t.right); free;
             free &= free - 1, made++) {
          const unsigned queen = free & -free;
          deque& d = *deques[worker];
          d.tasks[d.top++] = {t.row + 1, t.columns | queen, (t.left | queen) << 1,
                              (t.right | queen) >> 1};
        }
      } else {
        mine += ways(t);
      }
      const weir::dsm::locked<> guard(kPool);
      shared->left += made - 1;
      if (made || !shared->left) shared->version++, more.notify_all();
    }
    const weir::dsm::locked<> guard(kPool);
    shared->ways += mine;
  });
  weir_dsm_barrier(9);
  const bool right = shared->ways == ways({0, 0, 0, 0});
  weir_dsm_barrier(9);
  if (session.node() == 0)
    std::printf("queens: %s (%ld)\n", right ? "right" : "WRONG", shared->ways);
  return !right;
}
