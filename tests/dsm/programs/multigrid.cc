// Multigrid with red and black points in place: grids of ever fewer pages, the coarsest smaller
// than the number of nodes.
#include <cmath>
#include <cstdio>
#include <vector>
#include <weir/dsm.hpp>

namespace {

constexpr int kLevels = 5, kFinest = 128,
              kCycles = 6;  // kFinest >> level: points a side, without the border

struct grid {
  int side;
  double *u, *f;
  double& at(double* of, int y, int x) const { return of[y * (side + 1) + x]; }
};

struct share {
  int worker, workers;
  std::pair<int, int> rows(int side) const {
    const auto part = weir::dsm::part(side - 1, worker, workers);
    return {1 + int(part.first), 1 + int(part.second)};
  }
};

template <typename Barrier>
void smooth(const grid& g, share s, Barrier&& barrier) {
  const auto [from, to] = s.rows(g.side);
  for (int colour = 0; colour < 2; colour++) {
    for (int y = from; y < to; y++)
      for (int x = 1 + (y + colour) % 2; x < g.side; x += 2)
        g.at(g.u, y, x) = (g.at(g.u, y - 1, x) + g.at(g.u, y + 1, x) + g.at(g.u, y, x - 1) +
                           g.at(g.u, y, x + 1) + g.at(g.f, y, x)) /
                          4;
    barrier();
  }
}

template <typename Barrier>
void cycle(const std::vector<grid>& grids, int level, share s, Barrier&& barrier) {
  const grid& g = grids[level];
  for (int i = 0; i < 2; i++) smooth(g, s, barrier);
  if (level + 1 < kLevels) {
    const grid& c = grids[level + 1];
    const auto [from, to] = s.rows(c.side);
    for (int y = from; y < to; y++)
      for (int x = 1; x < c.side; x++) {
        const int a = 2 * y, b = 2 * x;
        g.at(g.u, a, b) += 0;
        c.at(c.f, y, x) = 4 * (g.at(g.f, a, b) - 4 * g.at(g.u, a, b) + g.at(g.u, a - 1, b) +
                               g.at(g.u, a + 1, b) + g.at(g.u, a, b - 1) + g.at(g.u, a, b + 1));
        c.at(c.u, y, x) = 0;
      }
    barrier();
    cycle(grids, level + 1, s, barrier);
    const auto [first, last] = s.rows(g.side);
    for (int y = first; y < last; y++)
      for (int x = 1; x < g.side; x++) {
        const int a = y / 2, b = x / 2;
        g.at(g.u, y, x) += (c.at(c.u, a, b) + c.at(c.u, a + y % 2, b) + c.at(c.u, a, b + x % 2) +
                            c.at(c.u, a + y % 2, b + x % 2)) /
                           4;
      }
    barrier();
  }
  for (int i = 0; i < 2; i++) smooth(g, s, barrier);
}

void fill(const grid& g) {
  for (int y = 1; y < g.side; y++)
    for (int x = 1; x < g.side; x++) g.at(g.f, y, x) = std::sin(0.1 * y) * std::cos(0.3 * x + 1);
}

}  // namespace

int main(int argc, char** argv) {
  weir::dsm::session session(argc, argv);
  std::vector<grid> grids, own;
  std::vector<std::vector<double>> memory;
  for (int level = 0; level < kLevels; level++) {
    const int side = kFinest >> level;
    const std::size_t count = std::size_t(side + 1) * (side + 1);
    grids.push_back({side,
                     static_cast<double*>(weir_dsm_alloc_shared(count, sizeof(double), nullptr)),
                     static_cast<double*>(weir_dsm_alloc_shared(count, sizeof(double), nullptr))});
    memory.emplace_back(count), memory.emplace_back(count);
    own.push_back({side, memory[2 * level].data(), memory[2 * level + 1].data()});
  }
  if (session.node() == 0) fill(grids[0]);
  fill(own[0]);
  weir_dsm_barrier(0);
  weir::dsm::run([&](unsigned worker, unsigned workers) {
    int phase = 0;
    // A number of its own for each of a cycle's barriers, as replay barriers want it.
    for (int i = 0; i < kCycles; i++, phase = 0)
      cycle(grids, 0, {int(worker), int(workers)},
            [&] { weir_dsm_barrier_replay(++phase, WEIR_DSM_STATIC); });
  });
  for (int i = 0; i < kCycles; i++) cycle(own, 0, {0, 1}, [] {});
  std::int64_t wrong = 0;
  for (std::size_t i = 0; i < memory[0].size(); i++) wrong += memory[0][i] != grids[0].u[i];
  weir_dsm_reduce_int64(&wrong, 1, WEIR_DSM_SUM);
  if (session.node() == 0)
    std::printf("multigrid: %s (%ld)\n", wrong ? "WRONG" : "right", long(wrong));
  return wrong != 0;
}
