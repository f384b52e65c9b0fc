// The multiplication by which numbers are hashed.
#pragma once

#include <stdint.h>

namespace weir {

// Spreads the bits of `value` over the word: the upper ones of the result depend on all of them.
// (Fibonacci hashing: 2^64 divided by the golden ratio.) Part of fingerprints and of recordings.
inline constexpr uint64_t mix(uint64_t value) { return value * 0x9E3779B97F4A7C15; }

}  // namespace weir
