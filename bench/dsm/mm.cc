// Question: what does distributing two matrices and multiplying them cost, by pages, by regions,
// and where the producer of each part says so?
// Command:  mpirun -n N dsm_mm [--size N] [--unit page|region|annotated] [--tapes produce]
//           [--check]
// Figure:   seconds of the multiplication, the distribution of A and B from node 0 included, as in
//           section 5.2 of the region paper.
//
// C = A B. A worker has some rows of A and C, which are one piece each, and needs all of B, whose
// rows are in as many pieces. The ordinary size is chosen so that rows and pieces end within pages,
// as the paper's does; the paper's text does not give it.
#include <algorithm>
#include <vector>

#include "app.h"
#include "pieces.h"

namespace {

using namespace app;

class Multiply : public Program {
 public:
  void prepare(const Options& options, unsigned workers) override {
    options_ = options;
    size_ = options.number("size");
    workers_ = workers;
    std::vector<size_t> counts;
    for (unsigned worker = 0; worker < workers; ++worker)
      counts.push_back(static_cast<size_t>(share_of(size_, worker, workers).size() * size_));
    a_.allocate(options.unit, "mm.a", counts);
    b_.allocate(options.unit, "mm.b", counts);
    c_.allocate(options.unit, "mm.c", counts);
    if (weir_dsm_node() == 0) fill();
  }

  void work(unsigned worker, unsigned workers) override {
    begin_measured(worker);
    const Range mine = share_of(size_, worker, workers);
    if (mine.size()) {
      double* c = c_.write(worker);
      const double* a = a_.read(worker);
      std::fill(c, c + mine.size() * size_, 0.0);
      // Each worker begins with its own part of B, so that not all ask for the same one at once;
      // what is added up in this order is the same on every run.
      for (unsigned step = 0; step < workers; ++step) {
        const unsigned part = (worker + step) % workers;
        multiply(c, a, mine.size(), part);
      }
    }
    end_measured(worker);
  }

  uint64_t checksum() override {
    Checksum sum;
    for (unsigned worker = 0; worker < workers_; ++worker) {
      const long count = share_of(size_, worker, workers_).size() * size_;
      const double* c = count ? c_.read(worker) : nullptr;
      for (long i = 0; i < count; ++i) sum.add(c[i]);
    }
    return sum.value();
  }

  double check(std::string& wrong) override {
    const long n = size_;
    std::vector<double> a(n * n), b(n * n), c(n * n);
    for (long i = 0; i < n * n; ++i) a[i] = of_a(i), b[i] = of_b(i);
    const double from = seconds();
    for (long i = 0; i < n; ++i)
      for (long k = 0; k < n; ++k) {
        const double factor = a[i * n + k];
        for (long j = 0; j < n; ++j) c[i * n + j] += factor * b[k * n + j];
      }
    const double took = seconds() - from;
    for (unsigned worker = 0; worker < workers_; ++worker) {
      const Range rows = share_of(n, worker, workers_);
      const double* part = rows.size() ? c_.read(worker) : nullptr;
      for (long i = rows.begin * n; i < rows.end * n; ++i)
        if (part[i - rows.begin * n] != c[i])
          report_difference(wrong, "C", i, part[i - rows.begin * n], c[i]);
    }
    return took;
  }

 private:
  // Small whole numbers: products and sums are exact in any order.
  double of_a(long i) const {
    return static_cast<double>(random_bits(options_.seed, i) % 201) - 100;
  }
  double of_b(long i) const {
    return static_cast<double>(random_bits(options_.seed + 1, i) % 201) - 100;
  }

  void fill() {
    for (unsigned worker = 0; worker < workers_; ++worker) {
      const Range rows = share_of(size_, worker, workers_);
      if (!rows.size()) continue;
      {
        const Producing producing(options_.tapes);
        double* a = a_.write(worker);
        for (long i = rows.begin * size_; i < rows.end * size_; ++i)
          a[i - rows.begin * size_] = of_a(i);
      }
      const Producing producing(options_.tapes);
      double* b = b_.write(worker);
      for (long i = rows.begin * size_; i < rows.end * size_; ++i)
        b[i - rows.begin * size_] = of_b(i);
    }
  }

  void multiply(double* c, const double* a, long rows, unsigned part) const {
    const Range inner = share_of(size_, part, workers_);
    if (!inner.size()) return;
    const double* b = b_.read(part);
    for (long i = 0; i < rows; ++i)
      for (long k = inner.begin; k < inner.end; ++k) {
        const double factor = a[i * size_ + k];
        const double* row = b + (k - inner.begin) * size_;
        for (long j = 0; j < size_; ++j) c[i * size_ + j] += factor * row[j];
      }
  }

  Options options_;
  long size_ = 0;
  unsigned workers_ = 1;
  Pieces<double> a_, b_, c_;
};

const Description kDescription = {"mm",
                                  "matrix multiplication",
                                  {{"size", "rows and columns", 500, 1000, 60}},
                                  Tapes{.produce = true},
                                  true};

}  // namespace

int main(int argc, char** argv) {
  static Multiply program;
  return app::run(argc, argv, kDescription, program);
}
