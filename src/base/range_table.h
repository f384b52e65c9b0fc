// Tables of ranges that do not overlap, sorted by address. An entry is a Range, or has one:
// `range`.
#pragma once

#include "base/types.h"

namespace weir {

inline const Range& range_of(const Range& entry) { return entry; }
template <typename Entry>
const Range& range_of(const Entry& entry) {
  return entry.range;
}

// The first entry that ends above `address`.
template <typename Entry>
uint32_t first_above(const Entry* table, uint32_t count, uint64_t address) {
  uint32_t low = 0, high = count;
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    if (range_of(table[middle]).limit > address) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

// Entries [from, to) give way to `made` pieces, which are none of the table's. REQUIRES: room for
// them.
template <typename Entry>
void replace_entries(Entry* table, uint32_t& count, uint32_t from, uint32_t to, const Entry* pieces,
                     uint32_t made) {
  const uint32_t gone = to - from;
  if (made < gone) {
    for (uint32_t i = to; i < count; i++) table[i - gone + made] = table[i];
  } else if (made > gone) {
    for (uint32_t i = count; i-- > to;) table[i - gone + made] = table[i];
  }
  for (uint32_t i = 0; i < made; i++) table[from + i] = pieces[i];
  count = count - gone + made;
}

}  // namespace weir
