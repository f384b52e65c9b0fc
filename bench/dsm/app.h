// What the applications of bench/dsm share: their command line, the Tapeworm calls that they make
// or do not, the clock, and the line of JSON at the end.
//
// An application is a Program. On every node run() starts the library and calls, in this order,
//   prepare   once on each node: allocates, and tells all nodes where; what it writes all workers
//             see
//   work      on all workers: the parallel program, which begins and ends the measured part
//   checksum  on node 0
//   check     on node 0, with --check: computes the same sequentially, in plain memory, and
//             compares
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "weir/dsm.h"

namespace app {

// Which of Tapeworm's calls are made in place of the plain ones. Where both kinds of lock are asked
// for, the auto-locks are taken.
struct Tapes {
  bool user = false, automatic = false;  // locks
  bool replay = false;                   // barriers
  bool flush = false, produce = false;
};

enum class Unit { kPage, kRegion, kAnnotated };  // section 5.1 of the region paper

struct Number {  // an option --NAME N
  const char* name;
  const char* what;
  long ordinary, paper, small;  // where it is not given: the default, with --paper, with --small
};

struct Description {
  const char* name;
  const char* what;
  std::vector<Number> numbers;
  Tapes best;  // what --tapes all stands for
  bool has_units = false;
};

struct Options {
  std::vector<std::pair<std::string, long>> numbers;
  Tapes tapes;
  std::string tapes_named = "none";
  Unit unit = Unit::kPage;
  uint64_t seed = 1;
  bool check = false;
  unsigned threads = 1;  // of each node, as the environment says

  long number(const char* name) const;
  // The iteration before which the clock starts: the second, as the first one distributes the data.
  long first_measured() const { return number("iterations") > 1 ? 1 : 0; }
};

class Program {
 public:
  virtual ~Program() = default;
  virtual void prepare(const Options& options, unsigned workers) = 0;
  virtual void work(unsigned worker, unsigned workers) = 0;
  virtual uint64_t checksum() = 0;
  // Seconds of the sequential version's part that corresponds to the measured one. What is wrong is
  // added to `wrong`.
  virtual double check(std::string& wrong) = 0;
};

int run(int argc, char** argv, const Description& description, Program& program);

// --- For work()

// Called by all workers. Counters and the clock begin at zero in between two barriers; the end is a
// barrier.
void begin_measured(unsigned worker);
void end_measured(unsigned worker);

void lock(const Tapes& tapes, uint32_t lock, const void* address, size_t size);
void barrier(const Tapes& tapes, uint32_t barrier, weir_dsm_pattern pattern = WEIR_DSM_STATIC);

// While one of them lives, what is written is flushed, or is a producer-consumer region.
class Flushing {
 public:
  explicit Flushing(const Tapes& tapes) : on_(tapes.flush) {
    if (on_) weir_dsm_flush_start();
  }
  ~Flushing() {
    if (on_) weir_dsm_flush_end();
  }
  Flushing(const Flushing&) = delete;
  Flushing& operator=(const Flushing&) = delete;

 private:
  bool on_;
};

class Producing {
 public:
  explicit Producing(const Tapes& tapes) : on_(tapes.produce) {
    if (on_) weir_dsm_produce_start();
  }
  ~Producing() {
    if (on_) weir_dsm_produce_end();
  }
  Producing(const Producing&) = delete;
  Producing& operator=(const Producing&) = delete;

 private:
  bool on_;
};

// --- Shared memory. Collective: node 0 allocates, everybody has the address.

void* shared_bytes(size_t size, const char* name);
template <typename T>
T* shared_array(size_t count, const char* name) {
  static_assert(std::is_trivially_copyable_v<T>);
  return static_cast<T*>(shared_bytes(count * sizeof(T), name));
}

// --- Division of work

struct Range {
  long begin, end;
  long size() const { return end - begin; }
};
// The part of 0 to count - 1 that is a worker's; empty for some where there are more workers than
// that.
inline Range share_of(long count, unsigned worker, unsigned workers) {
  return {count * worker / workers, count * (worker + 1) / workers};
}
// Whose part it is.
inline unsigned owner_of(long index, long count, unsigned workers) {
  return static_cast<unsigned>(((index + 1) * workers - 1) / count);
}

// --- Numbers

uint64_t random_bits(uint64_t seed, uint64_t index);  // the same for the same arguments, so every
                                                      // worker can make its own part of an input
double random_unit(uint64_t seed, uint64_t index);    // in [0, 1)

double seconds();  // of a clock that only moves forward

class Checksum {  // of values, in the order in which they are added
 public:
  template <typename T>
  void add(const T& value) {
    static_assert(std::is_arithmetic_v<T>);
    add_bytes(&value, sizeof value);
  }
  uint64_t value() const { return value_; }

 private:
  void add_bytes(const void* bytes, size_t size);
  uint64_t value_ = 0xcbf29ce484222325;
};

// Ends the job: something that no option or input can bring about has happened.
[[noreturn]] void give_up(const char* why);
// Appends to `wrong` what differs, at most a few times.
void report_difference(std::string& wrong, const char* what, long where, double found,
                       double expected);

}  // namespace app
