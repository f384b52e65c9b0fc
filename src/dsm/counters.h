// What a node counts, for weir_dsm_counters_get, `WEIR_DSM_STATS` and the timeline.
#pragma once

#include <stdint.h>
#include <time.h>

#include "weir/dsm.h"

namespace weir::dsm {

inline uint64_t nanoseconds_now() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

// Guarded by: Node::mutex.
struct Counters {
  weir_dsm_counters now = {};   // but for messages, bytes and memory
  uint64_t diffs = 0, twins = 0;  // bytes kept
};

// Adds the time of its life.
class Stopwatch {
 public:
  explicit Stopwatch(uint64_t& sum) : sum_(sum), start_(nanoseconds_now()) {}
  ~Stopwatch() { sum_ += nanoseconds_now() - start_; }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  uint64_t& sum_;
  uint64_t start_;
};

}  // namespace weir::dsm
