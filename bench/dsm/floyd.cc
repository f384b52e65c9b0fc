// Question: what does one row that everybody needs cost in each step, by pages, by regions, and
// where its producer flushes it?
// Command:  mpirun -n N dsm_floyd [--size N] [--unit page|region|annotated] [--tapes flush]
//           [--check]
// Figure:   seconds of all steps.
//
// Shortest paths between all pairs of vertices, by Floyd and Warshall: in step k each row i becomes
// the minimum of itself and of the way by k, for which row k is needed, which does not change in
// this step. A worker has a band of rows. Row k + 1 is the first that its owner brings up to date
// in step k, so that the flush travels while the others' rows are computed. A row is a piece; it is
// longer than a page and shares its last page with the next one. The paper's text does not give the
// size.
#include <algorithm>
#include <vector>

#include "app.h"
#include "pieces.h"

namespace {

using namespace app;

constexpr int32_t kFar = 1 << 29;  // no way

int32_t edge(uint64_t seed, long size, long from, long to) {
  if (from == to) return 0;
  const uint64_t bits = random_bits(seed, static_cast<uint64_t>(from * size + to));
  return bits % 8 ? kFar : 1 + static_cast<int32_t>(bits / 8 % 1000);  // every eighth pair has one
}

void relax(int32_t* row, const int32_t* by, int32_t length, long size) {
  for (long j = 0; j < size; ++j) row[j] = std::min(row[j], length + by[j]);
}

class Floyd : public Program {
 public:
  void prepare(const Options& options, unsigned) override {
    options_ = options;
    size_ = options.number("size");
    rows_.allocate(options.unit, "floyd.rows",
                   std::vector<size_t>(size_, static_cast<size_t>(size_)));
  }

  void work(unsigned worker, unsigned workers) override {
    const Range mine = share_of(size_, worker, workers);
    for (long i = mine.begin; i < mine.end; ++i) {
      int32_t* row = rows_.write(i);
      for (long j = 0; j < size_; ++j) row[j] = edge(options_.seed, size_, i, j);
    }
    weir_dsm_barrier(0);
    begin_measured(worker);
    for (long k = 0; k < size_; ++k) {
      if (mine.size()) step(k, mine);
      barrier(options_.tapes, 1);
    }
    end_measured(worker);
  }

  uint64_t checksum() override {
    Checksum sum;
    for (long i = 0; i < size_; ++i) {
      const int32_t* row = rows_.read(i);
      for (long j = 0; j < size_; ++j) sum.add(row[j]);
    }
    return sum.value();
  }

  double check(std::string& wrong) override {
    std::vector<int32_t> way(size_ * size_);
    for (long i = 0; i < size_ * size_; ++i)
      way[i] = edge(options_.seed, size_, i / size_, i % size_);
    const double from = seconds();
    for (long k = 0; k < size_; ++k)
      for (long i = 0; i < size_; ++i)
        relax(&way[i * size_], &way[k * size_], way[i * size_ + k], size_);
    const double took = seconds() - from;
    for (long i = 0; i < size_ * size_; ++i) {
      const int32_t found = rows_.read(i / size_)[i % size_];
      if (found != way[i]) report_difference(wrong, "way", i, found, way[i]);
    }
    return took;
  }

 private:
  void step(long k, Range mine) {
    const int32_t* by = rows_.read(k);
    const long next = k + 1;
    if (mine.begin <= next && next < mine.end) {
      const Flushing flushing(options_.tapes);
      update(next, k, by);
    }
    for (long i = mine.begin; i < mine.end; ++i)
      if (i != k && i != next) update(i, k, by);
  }

  // A row without a way to k stays as it is, and is not written.
  void update(long i, long k, const int32_t* by) {
    const int32_t length = rows_.read(i)[k];
    if (length < kFar) relax(rows_.write(i), by, length, size_);
  }

  Options options_;
  long size_ = 0;
  Pieces<int32_t> rows_;
};

const Description kDescription = {"floyd",
                                  "shortest paths between all pairs, by Floyd and Warshall",
                                  {{"size", "vertices", 700, 1500, 40}},
                                  Tapes{.flush = true},
                                  true};

}  // namespace

int main(int argc, char** argv) {
  static Floyd program;
  return app::run(argc, argv, kDescription, program);
}
