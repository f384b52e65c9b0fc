// Vocabulary types shared by every layer. Depends on nothing.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace weir {

// A program thread under Weir: dense, deterministic, 0 is the initial one. Slots are reused after
// join.
using TaskId = uint32_t;
inline constexpr TaskId kNoTask = ~TaskId{0};

inline constexpr size_t kPageSize = 4096;
inline constexpr uint64_t kPageMask = ~uint64_t{kPageSize - 1};

constexpr uint64_t page_down(uint64_t address) { return address & kPageMask; }
constexpr uint64_t page_up(uint64_t address) { return (address + kPageSize - 1) & kPageMask; }

// Bytes [start, limit).
struct Range {
  uint64_t start = 0;
  uint64_t limit = 0;

  constexpr uint64_t size() const { return limit - start; }
  constexpr bool empty() const { return start >= limit; }
  constexpr bool contains(uint64_t address) const { return address >= start && address < limit; }
  constexpr bool overlaps(const Range& other) const {
    return start < other.limit && other.start < limit;
  }
};

}  // namespace weir
