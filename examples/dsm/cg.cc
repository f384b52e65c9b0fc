// Conjugate gradients: the temperature in a rod that is heated evenly and cold at both ends, from
// A x = 1 with A = tridiagonal(-1, 2.01, -1). The direction p is shared, as neighbours read it;
// the rest is each node's own. usage: cg [UNKNOWNS]
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <vector>
#include <weir/dsm.hpp>

double of_all(double sum) {
  weir_dsm_reduce_double(&sum, 1, WEIR_DSM_SUM);
  return sum;
}

int main(int argc, char** argv) {
  weir::dsm::session session(argc, argv);
  const std::size_t n = argc > 1 ? std::atol(argv[1]) : 10000;
  weir::dsm::shared_vector<double> all(n + 2);  // zero before and behind
  const auto [from, to] = weir::dsm::part(n, session.node(), session.nodes());
  const std::size_t own = to - from;
  double* p = all.data() + from + 1;
  std::vector<double> x(own), r(own, 1.0), q(own);
  std::copy(r.begin(), r.end(), p);
  double old = of_all(std::inner_product(r.begin(), r.end(), r.begin(), 0.0));
  for (int step = 0; step < 1000 && std::sqrt(old) > 1e-9; step++) {
    weir::dsm::barrier(0).replay();
    for (std::size_t i = 0; i < own; i++) q[i] = 2.01 * p[i] - *(p + i - 1) - p[i + 1];
    // A barrier too: all have read p.
    const double alpha = old / of_all(std::inner_product(q.begin(), q.end(), p, 0.0));
    for (std::size_t i = 0; i < own; i++) {
      x[i] += alpha * p[i];
      r[i] -= alpha * q[i];
    }
    const double now = of_all(std::inner_product(r.begin(), r.end(), r.begin(), 0.0));
    for (std::size_t i = 0; i < own; i++) p[i] = r[i] + now / old * p[i];
    old = now;
  }
  const double sum = of_all(std::accumulate(x.begin(), x.end(), 0.0));
  if (session.node() == 0) std::printf("cg: %.4f in the mean\n", sum / n);
}
