// k-means: points in the plane go to the nearest of eight centres, and each centre to the mean of
// its points. Points are shared and read-only; sums are a reduction. usage: kmeans [POINTS]
#include <array>
#include <cstdio>
#include <cstdlib>
#include <weir/dsm.hpp>

constexpr int kCentres = 8, kRounds = 10;
struct Point {
  double x, y;
};
using Centres = std::array<Point, kCentres>;

std::pair<int, double> nearest(const Centres& centres, Point point) {
  std::pair<int, double> best{0, 1e300};
  for (int c = 0; c < kCentres; c++) {
    const double x = centres[c].x - point.x, y = centres[c].y - point.y;
    if (x * x + y * y < best.second) best = {c, x * x + y * y};
  }
  return best;
}

int main(int argc, char** argv) {
  weir::dsm::session session(argc, argv);
  const long count = argc > 1 ? std::atol(argv[1]) : 20000;
  weir::dsm::shared_vector<Point> points(count);
  const auto [from, to] = weir::dsm::part(count, session.node(), session.nodes());
  for (long i = from; i < long(to); i++) points[i] = {double(i * 7919 % 1000), double(i * i % 997)};
  weir::dsm::barrier(0).arrive_and_wait();
  Centres centres;
  for (int c = 0; c < kCentres; c++) centres[c] = points[c * (count / kCentres)];
  double inertia = 0;
  for (int round = 0; round < kRounds; round++) {
    std::array<double, 3 * kCentres + 1> sums{};
    for (size_t i = from; i < to; i++) {
      const auto [centre, distance] = nearest(centres, points[i]);
      sums[3 * centre] += points[i].x;
      sums[3 * centre + 1] += points[i].y;
      sums[3 * centre + 2]++;
      sums.back() += distance;
    }
    weir_dsm_reduce_double(sums.data(), sums.size(), WEIR_DSM_SUM);
    for (int c = 0; c < kCentres; c++) {
      const double members = sums[3 * c + 2];
      if (members > 0) centres[c] = {sums[3 * c] / members, sums[3 * c + 1] / members};
    }
    inertia = sums.back();
  }
  if (session.node() == 0) std::printf("kmeans: inertia %.2f a point\n", inertia / count);
}
