// The numbers that a schedule draws: SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom
// number generators, OOPSLA 2014), the same on every machine.
#pragma once

#include <stdint.h>

namespace weir::order {

class Random {
 public:
  constexpr explicit Random(uint64_t seed = 0) : state_(seed) {}

  constexpr uint64_t next() {
    state_ += 0x9E3779B97F4A7C15;
    uint64_t x = state_;
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9;
    x = (x ^ x >> 27) * 0x94D049BB133111EB;
    return x ^ x >> 31;
  }
  // From 0 to limit - 1. REQUIRES: limit > 0. The error of multiplying is below limit / 2^64.
  constexpr uint64_t below(uint64_t limit) {
    return static_cast<uint64_t>(static_cast<unsigned __int128>(next()) * limit >> 64);
  }
  // True so many times in a million.
  constexpr bool happens(uint64_t per_million) { return below(1'000'000) < per_million; }

 private:
  uint64_t state_;
};

}  // namespace weir::order
