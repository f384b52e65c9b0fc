// Question: what does a table of counters cost that everybody adds to in turn, and then reads as a
// whole?
// Command:  mpirun -n N dsm_is [--keys N] [--buckets N] [--iterations N] [--unit
//           page|region|annotated] [--tapes user|auto|replay] [--check]
// Figure:   seconds of all iterations but the first.
//
// Integer sort by counting. In each iteration every worker counts its own keys privately, adds its
// counters to the shared ones under a lock, and after a barrier reads all of them to rank its keys.
// Before it adds, it notes what stands there: so many equal keys of others come before its own.
// Which of two equal keys comes first depends on who had the lock first; the sorted sequence does
// not. Keys and ranks are private, as in the TreadMarks studies; afterwards, outside of what is
// measured, they are written down for the check. In each iteration two keys change, as in the NAS
// benchmark, so that no iteration is the last one's copy. The counters are one piece. Two tables
// take turns: the next iteration's is cleared in the phase in which this one's is read, by worker
// 0, and no worker adds before it is.
#include <algorithm>
#include <vector>

#include "app.h"
#include "pieces.h"

namespace {

using namespace app;

class IntegerSort : public Program {
 public:
  void prepare(const Options& options, unsigned) override {
    options_ = options;
    keys_ = options.number("keys");
    buckets_ = options.number("buckets");
    counters_.allocate(options.unit, "is.buckets",
                       {static_cast<size_t>(buckets_), static_cast<size_t>(buckets_)});
    sorted_ = shared_array<int32_t>(static_cast<size_t>(keys_), "is.sorted");
    if (weir_dsm_node() == 0)
      for (size_t table = 0; table < 2; ++table) std::fill_n(counters_.write(table), buckets_, 0);
  }

  void work(unsigned worker, unsigned workers) override {
    const long iterations = options_.number("iterations");
    const Range mine = share_of(keys_, worker, workers);
    std::vector<int32_t> keys(mine.size()), own(buckets_), before(buckets_), rank(mine.size());
    for (long i = mine.begin; i < mine.end; ++i) keys[i - mine.begin] = key(i, 0);
    for (long iteration = 0; iteration < iterations; ++iteration) {
      if (iteration == options_.first_measured()) begin_measured(worker);
      for (long i : {iteration % keys_, (iteration + keys_ / 2) % keys_})
        if (mine.begin <= i && i < mine.end) keys[i - mine.begin] = key(i, iteration + 1);
      std::fill(own.begin(), own.end(), 0);
      for (int32_t one : keys) ++own[one];
      const size_t table = iteration % 2;
      add(table, own, before);
      barrier(options_.tapes, 1);
      rank_all(table, keys, before, rank);
      if (worker == 0) std::fill_n(counters_.write(1 - table), buckets_, 0);
      barrier(options_.tapes, 2);
    }
    end_measured(worker);
    for (size_t i = 0; i < keys.size(); ++i) sorted_[rank[i]] = keys[i];
    weir_dsm_barrier(3);
  }

  uint64_t checksum() override {
    Checksum sum;
    for (long i = 0; i < keys_; ++i) sum.add(sorted_[i]);
    return sum.value();
  }

  double check(std::string& wrong) override {
    const long iterations = options_.number("iterations");
    std::vector<int32_t> keys(keys_), rank(keys_), sorted(keys_), starts(buckets_ + 1);
    for (long i = 0; i < keys_; ++i) keys[i] = key(i, 0);
    double from = 0;
    for (long iteration = 0; iteration < iterations; ++iteration) {
      if (iteration == options_.first_measured()) from = seconds();
      for (long i : {iteration % keys_, (iteration + keys_ / 2) % keys_})
        keys[i] = key(i, iteration + 1);
      std::fill(starts.begin(), starts.end(), 0);
      for (int32_t one : keys) ++starts[one + 1];
      for (long bucket = 0; bucket < buckets_; ++bucket) starts[bucket + 1] += starts[bucket];
      for (long i = 0; i < keys_; ++i) rank[i] = starts[keys[i]]++;
    }
    const double took = seconds() - from;
    for (long i = 0; i < keys_; ++i) sorted[rank[i]] = keys[i];
    for (long i = 0; i < keys_; ++i)
      if (sorted_[i] != sorted[i]) report_difference(wrong, "key", i, sorted_[i], sorted[i]);
    return took;
  }

 private:
  int32_t key(long i, long version) const {
    const uint64_t at = static_cast<uint64_t>(i + version * keys_) * 4;
    double sum = 0;  // of four, so that the middle buckets are the full ones
    for (uint64_t part = 0; part < 4; ++part) sum += random_unit(options_.seed, at + part);
    return static_cast<int32_t>(sum / 4 * static_cast<double>(buckets_));
  }

  void add(size_t table, const std::vector<int32_t>& own, std::vector<int32_t>& before) {
    lock(options_.tapes, 0, counters_.address(table),
         static_cast<size_t>(buckets_) * sizeof(int32_t));
    int32_t* shared = counters_.write(table);
    for (long bucket = 0; bucket < buckets_; ++bucket) {
      before[bucket] = shared[bucket];
      shared[bucket] += own[bucket];
    }
    weir_dsm_unlock(0);
  }

  void rank_all(size_t table, const std::vector<int32_t>& keys, const std::vector<int32_t>& before,
                std::vector<int32_t>& rank) const {
    const int32_t* shared = counters_.read(table);
    std::vector<int32_t> next(buckets_);
    for (int32_t bucket = 0, smaller = 0; bucket < buckets_; ++bucket) {
      next[bucket] = smaller + before[bucket];
      smaller += shared[bucket];
    }
    for (size_t i = 0; i < keys.size(); ++i) rank[i] = next[keys[i]]++;
  }

  Options options_;
  long keys_ = 0, buckets_ = 0;
  Pieces<int32_t> counters_;  // two tables
  int32_t* sorted_ = nullptr;
};

const Description kDescription = {"is",
                                  "integer sort with shared buckets",
                                  {{"keys", "to be sorted", 1 << 20, 1 << 22, 3000},
                                   {"buckets", "values of keys", 1 << 14, 1 << 15, 700},
                                   {"iterations", "of ranking", 10, 10, 5}},
                                  Tapes{.automatic = true, .replay = true},
                                  true};

}  // namespace

int main(int argc, char** argv) {
  static IntegerSort program;
  return app::run(argc, argv, kDescription, program);
}
