// Teams of threads: each node's threads meet at a barrier of their own (libc's) many times for each
// time that all meet at the library's. A stencil in two levels: a node smooths its own block with
// its team, then blocks exchange their edges. A worker whose block does not converge throws, is
// caught by the worker itself, and all take the careful way then.
#include <pthread.h>

#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <vector>
#include <weir/dsm.hpp>

namespace {

constexpr unsigned kCells = 6000, kSweeps = 8, kInner = 5;

std::uint32_t start_of(unsigned i) { return i * 2654435761u >> 8; }
std::uint32_t smooth(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  return (a + 2 * b + c) / 4 + (b & 1);
}

// What block [first, last) is after an inner step, cell by cell.
std::uint32_t next(const std::uint32_t* from, unsigned i, unsigned first, unsigned last) {
  const unsigned left = i == first ? i : i - 1, right = i + 1 == last ? i : i + 1;
  return smooth(from[left], from[i], from[right]);
}

void careful(unsigned sweep, unsigned node) {
  if ((sweep * 5 + node) % 7 == 3)
    throw std::runtime_error("block " + std::to_string(node) + " does not converge");
}

}  // namespace

int main(int argc, char** argv) {
  weir::dsm::session session(argc, argv);
  const unsigned node = session.node(), nodes = session.nodes();
  weir::dsm::shared_vector<std::uint32_t> cells(kCells), other(kCells), failures(kSweeps * 16);
  std::uint32_t* both[] = {cells.data(), other.data()};
  const auto mine = weir::dsm::part(kCells, node, nodes);
  pthread_barrier_t team;
  bool is_made = false;
  weir::dsm::run([&](unsigned worker, unsigned) {
    const unsigned threads = weir_dsm_threads(), me = worker % threads;
    if (me == 0) pthread_barrier_init(&team, nullptr, threads), is_made = true;
    const auto part = weir::dsm::part(mine.second - mine.first, me, threads);
    const unsigned first = unsigned(mine.first + part.first),
                   last = unsigned(mine.first + part.second);
    for (unsigned i = first; i < last; i++) cells[i] = start_of(i);
    weir_dsm_barrier(0);
    unsigned now = 0;
    for (unsigned sweep = 0; sweep < kSweeps; sweep++) {
      for (unsigned step = 0; step < kInner; step++, now ^= 1) {
        for (unsigned i = first; i < last; i++)
          both[now ^ 1][i] = next(both[now], i, unsigned(mine.first), unsigned(mine.second));
        pthread_barrier_wait(&team);
      }
      try {
        if (me == threads - 1) careful(sweep, node);
      } catch (const std::runtime_error& error) {
        const weir::dsm::locked<> held(sweep);
        failures[sweep * 16] += std::uint32_t(std::string(error.what()).size());
      }
      weir_dsm_barrier_replay(1, WEIR_DSM_DYNAMIC);
      // The edges of all blocks, by the first of each team; one who has heard of failures adds
      // them.
      if (me == 0 && node + 1 < nodes) {
        std::uint32_t &left = both[now][mine.second - 1], &right = both[now][mine.second];
        const std::uint32_t mean = left / 2 + right / 2 + failures[sweep * 16];
        left = right = mean;
      }
      weir_dsm_barrier_replay(2, WEIR_DSM_DYNAMIC);
    }
  });
  if (is_made) pthread_barrier_destroy(&team);
  std::vector<std::uint32_t> own[2] = {std::vector<std::uint32_t>(kCells),
                                       std::vector<std::uint32_t>(kCells)};
  for (unsigned i = 0; i < kCells; i++) own[0][i] = start_of(i);
  unsigned now = 0;
  for (unsigned sweep = 0; sweep < kSweeps; sweep++) {
    std::uint32_t sum = 0;
    for (unsigned one = 0; one < nodes; one++) {
      const auto block = weir::dsm::part(kCells, one, nodes);
      for (unsigned step = 0; step < kInner; step++)
        for (std::size_t i = block.first; i < block.second; i++)
          own[(now + step + 1) & 1][i] = next(own[(now + step) & 1].data(), unsigned(i),
                                              unsigned(block.first), unsigned(block.second));
      try {
        careful(sweep, one);
      } catch (const std::exception& error) {
        sum += std::uint32_t(std::string(error.what()).size());
      }
    }
    now = (now + kInner) & 1;
    for (unsigned one = 0; one + 1 < nodes; one++) {
      const auto block = weir::dsm::part(kCells, one, nodes);
      std::uint32_t &left = own[now][block.second - 1], &right = own[now][block.second];
      left = right = left / 2 + right / 2 + sum;
    }
  }
  std::int64_t wrong = 0;
  for (unsigned i = 0; i < kCells; i++) wrong += own[now][i] != both[now][i];
  weir_dsm_reduce_int64(&wrong, 1, WEIR_DSM_SUM);
  if (node == 0) std::printf("teams: %s (%ld)\n", wrong ? "WRONG" : "right", long(wrong));
  return wrong != 0;
}
