// Question: what does a broadcast cost that happens once for each row, so that nothing can be
// learned from it, and what does it cost where the program says so?
// Command:  mpirun -n N dsm_gauss [--size N] [--chunk N] [--tapes flush] [--check]
// Figure:   seconds of the elimination (Tapeworm's table 8).
//
// Gaussian elimination with partial pivoting. Rows are dealt to the workers in chunks, round and
// round, so that all have work until near the end. In step k the owner of row k finds its largest
// element, exchanges that column with column k, divides the row, and publishes row and column;
// after a barrier all workers do the same exchange in their later rows and subtract. So each row
// and each pivot is written once, by one, and then read by all. In a page of 4 KiB lie 512
// elements: at the paper's size a row is two pages. What stands on the right-hand side goes the
// same way: a row's owner keeps it, and publishes it with the pivot.
//
// A published row lists its elements in the order of columns that held then. Who solves, from the
// last row to the first, undoes one exchange before each row.
#include <algorithm>
#include <cmath>
#include <vector>

#include "app.h"

namespace {

using namespace app;

struct Pivot {
  int64_t column;  // exchanged with column k
  double right;    // of row k, divided
};

double element(uint64_t seed, long i, long j, long size) {
  return 2 * random_unit(seed, static_cast<uint64_t>(i * (size + 1) + j)) - 1;
}

long largest(const double* row, long from, long size) {
  long best = from;
  for (long j = from + 1; j < size; ++j)
    if (std::fabs(row[j]) > std::fabs(row[best])) best = j;
  return best;
}

class Gauss : public Program {
 public:
  void prepare(const Options& options, unsigned) override {
    options_ = options;
    size_ = options.number("size");
    chunk_ = options.number("chunk");
    matrix_ = shared_array<double>(static_cast<size_t>(size_ * size_), "gauss.matrix");
    pivots_ = shared_array<Pivot>(static_cast<size_t>(size_), "gauss.pivots");
  }

  void work(unsigned worker, unsigned workers) override {
    std::vector<long> mine;
    for (long i = 0; i < size_; ++i)
      if (i / chunk_ % workers == worker) mine.push_back(i);
    std::vector<double> right(size_);  // of rows of its own
    for (long i : mine) {
      for (long j = 0; j < size_; ++j) row(i)[j] = element(options_.seed, i, j, size_);
      right[i] = element(options_.seed, i, size_, size_);
    }
    weir_dsm_barrier(0);
    begin_measured(worker);
    auto next = mine.begin();
    for (long k = 0; k < size_; ++k) {
      if (next != mine.end() && *next == k) {
        publish(k, right[k]);
        ++next;
      }
      barrier(options_.tapes, 1);
      const Pivot pivot = pivots_[k];
      for (auto i = next; i != mine.end(); ++i) eliminate(row(*i), right[*i], row(k), pivot, k);
    }
    end_measured(worker);
  }

  uint64_t checksum() override {
    Checksum sum;
    for (long k = 0; k < size_; ++k) {
      sum.add(pivots_[k].column);
      sum.add(pivots_[k].right);
    }
    for (double x : solution()) sum.add(x);
    return sum.value();
  }

  double check(std::string& wrong) override {
    const long n = size_;
    std::vector<std::vector<double>> a(n, std::vector<double>(n + 1));  // with the right-hand side
    for (long i = 0; i < n; ++i)
      for (long j = 0; j <= n; ++j) a[i][j] = element(options_.seed, i, j, n);
    std::vector<long> exchanged(n);
    const double from = seconds();
    for (long k = 0; k < n; ++k) {
      const auto larger = [](double left, double right) {
        return std::fabs(left) < std::fabs(right);
      };
      const long best = std::max_element(a[k].begin() + k, a[k].end() - 1, larger) - a[k].begin();
      exchanged[k] = best;
      const double by = a[k][best];
      for (long j = k; j <= n; ++j) a[k][j] /= by;
      for (long i = k; i < n; ++i) std::swap(a[i][k], a[i][best]);
      for (long i = k + 1; i < n; ++i) {
        const double factor = a[i][k];
        for (long j = k; j <= n; ++j) a[i][j] -= factor * a[k][j];
      }
    }
    const double took = seconds() - from;
    for (long k = 0; k < n; ++k) {
      if (pivots_[k].column != exchanged[k])
        report_difference(wrong, "pivot column", k, static_cast<double>(pivots_[k].column),
                          static_cast<double>(exchanged[k]));
      if (pivots_[k].right != a[k][n])
        report_difference(wrong, "right-hand side", k, pivots_[k].right, a[k][n]);
    }
    const std::vector<double> x = solution();
    for (long i = 0; i < n; ++i) {
      double sum = 0;
      for (long j = 0; j < n; ++j) sum += element(options_.seed, i, j, n) * x[j];
      const double expected = element(options_.seed, i, n, n);
      if (!(std::fabs(sum - expected) < kTolerance))
        report_difference(wrong, "row of the system", i, sum, expected);
    }
    return took;
  }

 private:
  // Of a row of the original system, whose elements are below 1, with the solution put in. The
  // elimination itself is compared exactly.
  static constexpr double kTolerance = 1e-6;

  double* row(long i) { return matrix_ + i * size_; }

  void publish(long k, double right) {
    const Flushing flushing(options_.tapes);
    double* own = row(k);
    const long column = largest(own, k, size_);
    std::swap(own[k], own[column]);
    const double by = own[k];
    for (long j = k; j < size_; ++j) own[j] /= by;
    pivots_[k] = {column, right / by};
  }

  void eliminate(double* own, double& right, const double* pivot_row, const Pivot& pivot,
                 long k) const {
    std::swap(own[k], own[pivot.column]);
    const double factor = own[k];
    for (long j = k; j < size_; ++j) own[j] -= factor * pivot_row[j];
    right -= factor * pivot.right;
  }

  std::vector<double> solution() {
    std::vector<double> x(size_);
    for (long k = size_ - 1; k >= 0; --k) {
      double sum = pivots_[k].right;
      for (long j = k + 1; j < size_; ++j) sum -= row(k)[j] * x[j];
      x[k] = sum;
      std::swap(x[k], x[pivots_[k].column]);
    }
    return x;
  }

  Options options_;
  long size_ = 0, chunk_ = 1;
  double* matrix_ = nullptr;
  Pivot* pivots_ = nullptr;
};

const Description kDescription = {"gauss",
                                  "Gaussian elimination with partial pivoting",
                                  {{"size", "rows and columns", 512, 1024, 60},
                                   {"chunk", "rows of a worker that follow each other", 8, 8, 3}},
                                  Tapes{.flush = true}};

}  // namespace

int main(int argc, char** argv) {
  static Gauss program;
  return app::run(argc, argv, kDescription, program);
}
