// Heat in a square plate whose upper edge is hot: each cell becomes the mean of its neighbours.
// Each node has a band of rows; the barrier brings the rows at the bands' edges.
// usage: heat [CELLS [STEPS]]
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <utility>
#include <weir/dsm.hpp>

int main(int argc, char** argv) {
  weir::dsm::session session(argc, argv);
  const int n = argc > 1 ? std::atoi(argv[1]) : 128, steps = argc > 2 ? std::atoi(argv[2]) : 100;
  weir::dsm::shared_vector<double> first(n * n), second(n * n);
  double *now = first.data(), *next = second.data();
  const auto rows = weir::dsm::part(n, session.node(), session.nodes());
  const int from = rows.first, to = rows.second;
  if (from == 0) {
    std::fill_n(now, n, 100.0);
    std::fill_n(next, n, 100.0);
  }
  weir::dsm::barrier(0).arrive_and_wait();
  for (int step = 0; step < steps; step++) {
    for (int i = std::max(from, 1); i < std::min(to, n - 1); i++) {
      const double *above = now + (i - 1) * n, *here = now + i * n, *below = now + (i + 1) * n;
      for (int j = 1; j < n - 1; j++)
        next[i * n + j] = (above[j] + below[j] + here[j - 1] + here[j + 1]) / 4;
    }
    weir::dsm::barrier(1).replay();
    std::swap(now, next);
  }
  double sum = std::accumulate(now + from * n, now + to * n, 0.0);
  weir_dsm_reduce_double(&sum, 1, WEIR_DSM_SUM);
  if (session.node() == 0) std::printf("heat: %.4f in the mean\n", sum / n / n);
}
