// Addresses that the program reserves (an anonymous private mapping with PROT_NONE) have a range of
// their own outside the arena: they may be more than the store has room for, most of them are never
// used, and what is mapped into them later (MAP_FIXED) is a mapping of the kernel's like any other.
//
// While the program has one task, all of it is the kernel's own. With tasks, what becomes writable
// there becomes store memory, in pieces of up to kReserveChunk: a region each, of which the parts
// that are not accessible are remembered as such. What is unmapped stays reserved, and is handed
// out again.
#pragma once

#include <stdint.h>

#include "base/types.h"
#include "memory/backing.h"

namespace weir::page {

inline constexpr uint64_t kReserve = 0x570000000000;
inline constexpr uint64_t kReserveSize = uint64_t{39} << 40;
inline constexpr uint64_t kReserveChunk = uint64_t{64} << 20;

inline bool in_reserve(uint64_t address) { return address - kReserve < kReserveSize; }

// Guarded by: the turn, where tasks exist; likewise all below. 0: there is no room.
uint64_t take_reserved(uint64_t size);
void give_reserved(uint64_t start, uint64_t size);
// A place that the program chose: whatever of it is free is handed out to nobody else.
void claim_reserved(uint64_t start, uint64_t size);
// The first store memory in [from, limit); `limit` where there is none.
uint64_t next_store(uint64_t from, uint64_t limit);
// Calls act(start, size, is_store) for the parts of a range that are store memory, and that are
// not.
template <typename Act>
void each_part(uint64_t start, uint64_t size, Act act) {
  const uint64_t limit = start + size;
  for (uint64_t at = start; at < limit;) {
    const uint64_t store = next_store(at, limit);
    if (store > at) {
      act(at, store - at, false);
      at = store;
      continue;
    }
    uint64_t length = store_extent(at);
    if (length > limit - at) length = limit - at;
    act(at, length, true);
    at += length;
  }
}

}  // namespace weir::page
