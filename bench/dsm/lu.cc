// Question: what do blocks of a matrix cost that travel once to some, by pages, by regions, and
// where the producer of each block says so?
// Command:  mpirun -n N dsm_lu [--size N] [--block N] [--unit page|region|annotated] [--tapes
//           produce] [--check]
// Figure:   seconds of the factorization.
//
// A = L U without pivoting, in blocks that each lie in one stretch of memory, as in SPLASH-2's
// contiguous version. Workers form a grid, and blocks are dealt to it in both directions. Step k:
// the owner of the diagonal block factors it; after a barrier the owners of the blocks below and
// beside it divide these by it; after another, all owners of inner blocks subtract the products. A
// block is a piece, the blocks of one owner lie together. The paper's text does not give the size.
//
// Each element has the same terms subtracted in the same order as in any other right-looking
// factorization, blocked or not, so the result is compared exactly.
#include <algorithm>
#include <numeric>
#include <vector>

#include "app.h"
#include "pieces.h"

namespace {

using namespace app;

double element(uint64_t seed, long size, long i, long j) {
  const double value = random_unit(seed, static_cast<uint64_t>(i * size + j)) - 0.5;
  return i == j ? value + static_cast<double>(size) : value;  // dominant: no pivot is small
}

// Blocks at the edge of the matrix are smaller: rows x columns, and rows follow each other without
// a gap.
struct Shape {
  long rows, columns;
};

// D becomes its own L below the diagonal, and U.
void factor(double* d, long n) {
  for (long k = 0; k < n; ++k)
    for (long i = k + 1; i < n; ++i) {
      const double by = d[i * n + k] /= d[k * n + k];
      for (long j = k + 1; j < n; ++j) d[i * n + j] -= by * d[k * n + j];
    }
}

// A block below the diagonal one.
void divide_below(double* block, Shape shape, const double* d) {
  const long n = shape.columns;
  for (long i = 0; i < shape.rows; ++i)
    for (long k = 0; k < n; ++k) {
      const double by = block[i * n + k] /= d[k * n + k];
      for (long j = k + 1; j < n; ++j) block[i * n + j] -= by * d[k * n + j];
    }
}

// A block beside it.
void divide_beside(double* block, Shape shape, const double* d) {
  const long n = shape.rows, width = shape.columns;
  for (long k = 0; k < n; ++k)
    for (long i = k + 1; i < n; ++i)
      for (long j = 0; j < width; ++j) block[i * width + j] -= d[i * n + k] * block[k * width + j];
}

void subtract_product(double* block, Shape shape, const double* left, const double* above,
                      long inner) {
  for (long i = 0; i < shape.rows; ++i)
    for (long k = 0; k < inner; ++k) {
      const double by = left[i * inner + k];
      for (long j = 0; j < shape.columns; ++j)
        block[i * shape.columns + j] -= by * above[k * shape.columns + j];
    }
}

class Lu : public Program {
 public:
  void prepare(const Options& options, unsigned workers) override {
    options_ = options;
    size_ = options.number("size");
    block_ = std::min(options.number("block"), size_);
    across_ = (size_ + block_ - 1) / block_;
    grid_rows_ = 1;
    for (unsigned rows = 1; rows * rows <= workers; ++rows)
      if (workers % rows == 0) grid_rows_ = rows;
    grid_columns_ = workers / grid_rows_;

    std::vector<long> order(across_ * across_);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](long a, long b) {
      return owner(a / across_, a % across_) < owner(b / across_, b % across_);
    });
    std::vector<size_t> counts;
    piece_.resize(order.size());
    for (long which : order) {
      piece_[which] = counts.size();
      const Shape shape = shape_of(which / across_, which % across_);
      counts.push_back(static_cast<size_t>(shape.rows * shape.columns));
    }
    blocks_.allocate(options.unit, "lu.blocks", counts);
  }

  void work(unsigned worker, unsigned) override {
    for (long row = 0; row < across_; ++row)
      for (long column = 0; column < across_; ++column)
        if (owner(row, column) == worker) fill(row, column);
    weir_dsm_barrier(0);
    begin_measured(worker);
    for (long k = 0; k < across_; ++k) {
      if (owner(k, k) == worker) {
        const Producing producing(options_.tapes);
        factor(write(k, k), shape_of(k, k).rows);
      }
      barrier(options_.tapes, 1, WEIR_DSM_DYNAMIC);
      divide(k, worker);
      barrier(options_.tapes, 2, WEIR_DSM_DYNAMIC);
      for (long row = k + 1; row < across_; ++row)
        for (long column = k + 1; column < across_; ++column)
          if (owner(row, column) == worker)
            subtract_product(write(row, column), shape_of(row, column), read(row, k),
                             read(k, column), block_);
    }
    end_measured(worker);
  }

  uint64_t checksum() override {
    Checksum sum;
    for (long i = 0; i < size_; ++i)
      for (long j = 0; j < size_; ++j) sum.add(at(i, j));
    return sum.value();
  }

  // On the matrix as a whole, row by row, in stripes of as many pivots as a block has, so that they
  // stay in the cache.
  double check(std::string& wrong) override {
    const long n = size_;
    std::vector<double> a(n * n);
    for (long i = 0; i < n * n; ++i) a[i] = element(options_.seed, n, i / n, i % n);
    const double from = seconds();
    for (long low = 0; low < n; low += block_) {
      const long high = std::min(low + block_, n);
      for (long i = low + 1; i < n; ++i)
        for (long k = low; k < std::min(i, high); ++k) {
          const double by = a[i * n + k] /= a[k * n + k];
          for (long j = k + 1; j < n; ++j) a[i * n + j] -= by * a[k * n + j];
        }
    }
    const double took = seconds() - from;
    for (long i = 0; i < n; ++i)
      for (long j = 0; j < n; ++j)
        if (at(i, j) != a[i * n + j])
          report_difference(wrong, "element", i * n + j, at(i, j), a[i * n + j]);
    return took;
  }

 private:
  unsigned owner(long row, long column) const {
    return static_cast<unsigned>(row % grid_rows_ * grid_columns_ + column % grid_columns_);
  }
  Shape shape_of(long row, long column) const {
    return {std::min(block_, size_ - row * block_), std::min(block_, size_ - column * block_)};
  }
  const double* read(long row, long column) const {
    return blocks_.read(piece_[row * across_ + column]);
  }
  double* write(long row, long column) { return blocks_.write(piece_[row * across_ + column]); }
  double at(long i, long j) const {
    return read(i / block_,
                j / block_)[i % block_ * shape_of(i / block_, j / block_).columns + j % block_];
  }

  void fill(long row, long column) {
    const Shape shape = shape_of(row, column);
    double* block = write(row, column);
    for (long i = 0; i < shape.rows; ++i)
      for (long j = 0; j < shape.columns; ++j)
        block[i * shape.columns + j] =
            element(options_.seed, size_, row * block_ + i, column * block_ + j);
  }

  // Each block is produced by itself: who needs one of a column need not need the next.
  void divide(long k, unsigned worker) {
    for (long other = k + 1; other < across_; ++other) {
      if (owner(other, k) == worker) {
        const Producing producing(options_.tapes);
        divide_below(write(other, k), shape_of(other, k), read(k, k));
      }
      if (owner(k, other) == worker) {
        const Producing producing(options_.tapes);
        divide_beside(write(k, other), shape_of(k, other), read(k, k));
      }
    }
  }

  Options options_;
  long size_ = 0, block_ = 0, across_ = 0;  // across: blocks in a row of them
  unsigned grid_rows_ = 1, grid_columns_ = 1;
  std::vector<size_t> piece_;  // by row and column of the block
  Pieces<double> blocks_;
};

const Description kDescription = {"lu",
                                  "blocked LU factorization",
                                  {{"size", "rows and columns", 512, 1024, 50},
                                   {"block", "rows and columns of a block", 32, 32, 8}},
                                  Tapes{.produce = true},
                                  true};

}  // namespace

int main(int argc, char** argv) {
  static Lu program;
  return app::run(argc, argv, kDescription, program);
}
