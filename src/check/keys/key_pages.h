// Within the checked View, enforcer by protection keys: the pages of objects, which are an object's
// alone, or other memory's too.
#pragma once

#include "check/core/objects.h"

namespace weir::view::checked::keys {

inline bool has_own_pages(Origin origin) {
  return origin != Origin::kDeclared && origin != Origin::kHeap;
}
// The pages that are the object's alone.
Range pages_of(const Declared& object);
// Pages of which the object has a part.
template <typename Act>
void each_edge(const Declared& object, Act act) {
  if (has_own_pages(object.origin)) return;
  const uint64_t first = page_down(object.start), last = page_down(object.limit() - 1);
  const Range whole = pages_of(object);
  if (!whole.contains(first)) act(first);
  if (last != first && !whole.contains(last)) act(last);
}

// Several objects lie in it, or other memory too. `except`: not counted.
bool is_mixed(uint64_t page, uint32_t except, FoundLately& found);
// No object has a part of the pages of [address, limit).
inline bool is_far(const Around& around, uint64_t address, uint64_t limit) {
  return page_up(around.low) <= page_down(address) && page_up(limit) <= page_down(around.start) &&
         address / ObjectTable::kZone == limit / ObjectTable::kZone;
}
// Whether its protection may be changed to reading and writing, and back.
bool is_writable(const Declared& object);

}  // namespace weir::view::checked::keys
