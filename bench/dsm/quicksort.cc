// Question: what does data cost that one worker makes and another takes, who they are being known
// only when it is taken?
// Command:  mpirun -n N dsm_quicksort [--size N] [--threshold N] [--tapes user,produce] [--check]
// Figure:   seconds from the unsorted array, which node 0 has made, to the sorted one (Tapeworm's
//           table 6).
//
// Quicksort with a central queue of ranges of a shared array. A worker takes a range, copies it to
// a buffer of its own, and partitions it there: it writes the larger part back, as a
// producer-consumer region of its own, puts that range into the queue, and goes on with the smaller
// part, until that is below the threshold; that one it sorts by insertion and writes back. So what
// is produced together is consumed together, and a part that nobody else will take is not produced
// at all. Ranges begin and end anywhere in a page.
//
// The queue is a ring, so that the largest ranges are taken first. Who finds it empty while others
// are still at work waits for a signal. It knows that all is done when nobody is at work.
#include <algorithm>
#include <vector>

#include "app.h"

namespace {

using namespace app;

constexpr int32_t kCapacity = 1000;  // ranges in the queue; while it is full, workers sort alone

struct Entry {
  int32_t low, high;
};

struct Queue {
  int32_t first, count;
  int32_t working, waiting;  // workers
  Entry entries[kCapacity];
};

enum : uint32_t { kQueueLock = 0, kFilled = 0 };

// Answers how many elements are in the left part, none of which is greater than any of the right
// one; neither part is empty. REQUIRES: size is 2 or more.
size_t partition(int32_t* values, size_t size) {
  const int32_t a = values[0], b = values[size / 2], c = values[size - 1];
  const int32_t pivot = std::max(std::min(a, b), std::min(std::max(a, b), c));  // the median
  size_t low = 0, high = size - 1;
  for (;; ++low, --high) {
    while (values[low] < pivot) ++low;
    while (values[high] > pivot) --high;
    if (low >= high) break;
    std::swap(values[low], values[high]);
  }
  return std::clamp<size_t>(low, 1, size - 1);
}

void sort_by_insertion(int32_t* values, size_t size) {
  for (size_t i = 1; i < size; ++i) {
    const int32_t value = values[i];
    size_t at = i;
    for (; at > 0 && values[at - 1] > value; --at) values[at] = values[at - 1];
    values[at] = value;
  }
}

void sort_alone(int32_t* values, size_t size, size_t threshold) {
  while (size > threshold) {
    const size_t left = partition(values, size);
    if (left < size - left) {
      sort_alone(values, left, threshold);
      values += left;
      size -= left;
    } else {
      sort_alone(values + left, size - left, threshold);
      size = left;
    }
  }
  sort_by_insertion(values, size);
}

class QuickSort : public Program {
 public:
  void prepare(const Options& options, unsigned) override {
    options_ = options;
    size_ = options.number("size");
    threshold_ = std::max<size_t>(static_cast<size_t>(options.number("threshold")), 2);
    values_ = shared_array<int32_t>(static_cast<size_t>(size_), "quicksort.values");
    queue_ = shared_array<Queue>(1, "quicksort.queue");
    if (weir_dsm_node() != 0) return;
    const Producing producing(options_.tapes);
    for (long i = 0; i < size_; ++i) values_[i] = value(i);
    queue_->entries[0] = {0, static_cast<int32_t>(size_)};
    queue_->count = 1;
  }

  void work(unsigned worker, unsigned) override {
    begin_measured(worker);
    std::vector<int32_t> own;
    Entry entry{};
    for (bool at_work = false; take(entry, at_work); at_work = true) {
      own.assign(values_ + entry.low, values_ + entry.high);
      refine(own.data(), entry);
    }
    end_measured(worker);
  }

  uint64_t checksum() override {
    Checksum sum;
    for (long i = 0; i < size_; ++i) sum.add(values_[i]);
    return sum.value();
  }

  double check(std::string& wrong) override {
    std::vector<int32_t> values(size_);
    for (long i = 0; i < size_; ++i) values[i] = value(i);
    const double from = seconds();
    sort_alone(values.data(), values.size(), threshold_);
    const double took = seconds() - from;
    std::vector<int32_t> expected(size_);
    for (long i = 0; i < size_; ++i) expected[i] = value(i);
    std::sort(expected.begin(), expected.end());
    if (values != expected) wrong += "  the sequential version is wrong\n";
    for (long i = 0; i < size_; ++i)
      if (values_[i] != expected[i])
        report_difference(wrong, "element", i, values_[i], expected[i]);
    return took;
  }

 private:
  int32_t value(long i) const {
    return static_cast<int32_t>(random_bits(options_.seed, static_cast<uint64_t>(i)) >> 33);
  }

  void lock_queue() { lock(options_.tapes, kQueueLock, queue_, sizeof *queue_); }

  // Gives back that this worker is at work, and takes what is to be done next, in one hold of the
  // lock. False: all is done.
  bool take(Entry& entry, bool at_work) {
    lock_queue();
    if (at_work) --queue_->working;
    while (queue_->count == 0 && queue_->working > 0) {
      ++queue_->waiting;
      weir_dsm_wait(kFilled, kQueueLock);
      --queue_->waiting;
    }
    const bool some = queue_->count > 0;
    if (some) {
      entry = queue_->entries[queue_->first];
      queue_->first = (queue_->first + 1) % kCapacity;
      --queue_->count;
      ++queue_->working;
    } else if (queue_->waiting > 0) {
      weir_dsm_broadcast(kFilled);
    }
    weir_dsm_unlock(kQueueLock);
    return some;
  }

  bool give(Entry entry) {
    lock_queue();
    const bool room = queue_->count < kCapacity;
    if (room) {
      queue_->entries[(queue_->first + queue_->count) % kCapacity] = entry;
      ++queue_->count;
      if (queue_->waiting > 0) weir_dsm_signal(kFilled);
    }
    weir_dsm_unlock(kQueueLock);
    return room;
  }

  // `own`: the range's elements, in this worker's buffer.
  void refine(int32_t* own, Entry range) {
    for (size_t size; (size = static_cast<size_t>(range.high - range.low)) > threshold_;) {
      const size_t left = partition(own, size);
      const bool keep_left = left < size - left;
      const int32_t middle = range.low + static_cast<int32_t>(left);
      const Entry other = keep_left ? Entry{middle, range.high} : Entry{range.low, middle};
      int32_t* others = keep_left ? own + left : own;
      produce(others, other);
      if (!give(other)) {
        sort_alone(others, static_cast<size_t>(other.high - other.low), threshold_);
        std::copy_n(others, other.high - other.low, values_ + other.low);
      }
      if (keep_left) range.high = middle;
      else range.low = middle, own += left;
    }
    sort_by_insertion(own, static_cast<size_t>(range.high - range.low));
    std::copy_n(own, range.high - range.low, values_ + range.low);
  }

  void produce(const int32_t* from, Entry range) {
    const Producing producing(options_.tapes);
    std::copy_n(from, range.high - range.low, values_ + range.low);
  }

  Options options_;
  long size_ = 0;
  size_t threshold_ = 2;
  int32_t* values_ = nullptr;
  Queue* queue_ = nullptr;
};

const Description kDescription = {
    "quicksort",
    "quicksort with a central queue",
    {{"size", "numbers to be sorted", 300'000, 1'000'000, 60'000},
     {"threshold", "numbers that are sorted by insertion", 1000, 2500, 500}},
    Tapes{.user = true, .produce = true}};

}  // namespace

int main(int argc, char** argv) {
  static QuickSort program;
  return app::run(argc, argv, kDescription, program);
}
