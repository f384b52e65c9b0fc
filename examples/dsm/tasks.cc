// A pool of tasks: who has nothing to do takes the next number under a lock. A task is a way to put
// queens into the first two rows of a chess board; its result is the number of ways to go on.
// usage: tasks [ROWS]
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <weir/dsm.hpp>

// Bits: columns and diagonals that are taken, shifted from row to row.
std::int64_t ways(unsigned all, unsigned columns, unsigned left, unsigned right) {
  if (columns == all) return 1;
  std::int64_t sum = 0;
  for (unsigned free = all & ~(columns | left | right); free; free &= free - 1) {
    const unsigned queen = free & -free;
    sum += ways(all, columns | queen, (left | queen) << 1, (right | queen) >> 1);
  }
  return sum;
}

int main(int argc, char** argv) {
  weir::dsm::session session(argc, argv);
  const unsigned rows = argc > 1 ? std::atoi(argv[1]) : 9, all = (1u << rows) - 1;
  auto* next = weir::dsm::create_shared<unsigned>(0u);
  const auto take = [next] {
    weir::dsm::locked<weir::dsm::auto_mutex> guard(weir::dsm::auto_mutex(0));  // brings the number
    return (*next)++;
  };
  std::int64_t sum = 0;
  for (unsigned task = take(); task < rows * rows; task = take()) {
    const unsigned first = 1u << task / rows, second = 1u << task % rows;
    if (second & (first | first << 1 | first >> 1)) continue;
    sum += ways(all, first | second, (first << 1 | second) << 1, (first >> 1 | second) >> 1);
  }
  weir_dsm_reduce_int64(&sum, 1, WEIR_DSM_SUM);
  if (session.node() == 0) std::printf("tasks: %ld ways for %u queens\n", long(sum), rows);
}
