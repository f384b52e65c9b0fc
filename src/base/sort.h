// Sorting where nothing of the C++ library may be called: by a heap, in place, O(n log n) whatever
// the order.
#pragma once

#include <stddef.h>

namespace weir {

// Sorts by key(entry), rising. A table that is sorted already costs one comparison for each entry.
template <typename Entry, typename Key>
void sort_by(Entry* table, size_t count, Key key) {
  bool is_sorted = true;
  for (size_t i = 1; i < count && is_sorted; i++) is_sorted = key(table[i - 1]) <= key(table[i]);
  if (is_sorted) return;
  const auto swap = [table](size_t one, size_t other) {
    const Entry kept = table[one];
    table[one] = table[other];
    table[other] = kept;
  };
  const auto swap_down = [=](size_t root, size_t limit) {
    for (size_t child; (child = 2 * root + 1) < limit; root = child) {
      if (child + 1 < limit && key(table[child]) < key(table[child + 1])) child++;
      if (key(table[root]) >= key(table[child])) return;
      swap(root, child);
    }
  };
  for (size_t i = count / 2; i-- > 0;) swap_down(i, count);
  for (size_t last = count; last-- > 1;) {
    swap(0, last);
    swap_down(0, last);
  }
}

}  // namespace weir
