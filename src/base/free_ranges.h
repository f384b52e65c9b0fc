// Hands out addresses from a range. All addresses above `top` are free; below it those of a table
// are, in no order. What the table has no room for is not handed out any more.
#pragma once

#include "base/types.h"

namespace weir {

struct FreeRanges {
  Range* ranges;
  uint32_t& count;
  uint32_t most;
  uint64_t& top;

  // The first `size` bytes of the range `index`. REQUIRES: it has as many.
  uint64_t take(uint32_t index, uint64_t size) {
    Range& range = ranges[index];
    const uint64_t start = range.start;
    range.start += size;
    if (range.empty()) range = ranges[--count];
    return start;
  }

  // Free again, joined with what is free beside it.
  void give(Range range) {
    if (range.limit > top) range.limit = top;
    if (range.empty()) return;
    for (uint32_t i = 0; i < count;) {
      const Range other = ranges[i];
      if (other.limit == range.start || other.start == range.limit || other.overlaps(range)) {
        if (other.start < range.start) range.start = other.start;
        if (other.limit > range.limit) range.limit = other.limit;
        ranges[i] = ranges[--count];
        i = 0;
      } else {
        i++;
      }
    }
    if (range.limit == top) {
      top = range.start;
    } else {
      add(range);
    }
  }

  // Whatever of it is free is so no more.
  void claim(Range range) {
    for (uint32_t i = 0; i < count;) {
      const Range old = ranges[i];
      if (!old.overlaps(range)) {
        i++;
        continue;
      }
      ranges[i] = ranges[--count];
      add({old.start, range.start});
      add({range.limit, old.limit});
    }
    if (range.limit > top) {
      add({top, range.start});
      top = range.limit;
    }
  }

 private:
  void add(Range range) {
    if (!range.empty() && count < most) ranges[count++] = range;
  }
};

}  // namespace weir
