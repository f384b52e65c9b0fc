// Size classes of the heap: 16 steps of 16 bytes, then eight to each doubling up to 16 KiB, so that
// rounding up loses less than an eighth. All tables are computed by the compiler.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/types.h"

namespace weir::heap {

inline constexpr uint32_t kClasses = 64;
inline constexpr size_t kSmallMax = 16384;
inline constexpr uint32_t kSpanPagesMax = 32;

constexpr uint32_t class_size(uint32_t index) {
  if (index < 16) return (index + 1) * 16;
  uint32_t group = (index - 16) / 8;
  uint32_t step = (index - 16) % 8;
  return (256u << group) + (step + 1) * (32u << group);
}
static_assert(class_size(kClasses - 1) == kSmallMax);

struct SizeClass {
  uint32_t size;
  uint32_t inverse;      // ceil(2^32 / size)
  uint32_t last_offset;  // of the last object in a span
  uint16_t pages;        // of a span
  uint16_t capacity;     // objects in a span
  uint16_t cache;        // objects that may be freed before some go back to their spans
};

struct ClassTable {
  SizeClass of[kClasses] = {};
  uint8_t by_size[kSmallMax / 16 + 1] = {};  // index: (size + 15) / 16

  constexpr ClassTable() {
    for (uint32_t i = 0; i < kClasses; ++i) {
      uint32_t size = class_size(i);
      uint32_t least = (8 * size + kPageSize - 1) / kPageSize;
      if (least < 16) least = 16;
      uint32_t best = least;
      for (uint32_t pages = least; pages <= kSpanPagesMax; ++pages) {
        uint32_t waste = pages * kPageSize % size;
        if (waste * best < best * kPageSize % size * pages) best = pages;
      }
      uint32_t capacity = best * kPageSize / size;
      uint32_t cache = 65536 / size;
      if (cache < 8) cache = 8;
      if (cache > 1024) cache = 1024;
      of[i] = {size,
               static_cast<uint32_t>(((uint64_t{1} << 32) + size - 1) / size),
               (capacity - 1) * size,
               static_cast<uint16_t>(best),
               static_cast<uint16_t>(capacity),
               static_cast<uint16_t>(cache)};
    }
    uint32_t index = 0;
    for (uint32_t unit = 0; unit <= kSmallMax / 16; ++unit) {
      if (unit * 16 > class_size(index)) ++index;
      by_size[unit] = static_cast<uint8_t>(index);
    }
  }
};

inline constexpr ClassTable kTable;

// REQUIRES: size <= kSmallMax.
inline uint32_t class_of(size_t size) { return kTable.by_size[(size + 15) / 16]; }

// True where `offset` bytes into a span of this class an object begins.
inline bool object_begins_at(const SizeClass& of, uint64_t offset) {
  uint64_t index = offset * of.inverse >> 32;
  return index * of.size == offset && offset <= of.last_offset;
}

}  // namespace weir::heap
