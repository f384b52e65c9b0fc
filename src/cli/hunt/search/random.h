// Numbers that follow from a seed: the same everywhere. (SplitMix64, Steele, Lea, Flood 2014.)
#pragma once

#include <cstdint>

namespace weir::cli::hunt {

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t next() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  // From 0 to limit - 1; 0 where limit is 0.
  uint64_t below(uint64_t limit) { return limit ? next() % limit : 0; }
  double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }  // from 0 to below 1

 private:
  uint64_t state_;
};

}  // namespace weir::cli::hunt
