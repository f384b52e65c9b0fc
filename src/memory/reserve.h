// Addresses that the program reserves (an anonymous private mapping with PROT_NONE) have a range of
// their own outside the arena. They may be more than the backing has room for, and most of them are
// never used. What is mapped into them later (MAP_FIXED) is an ordinary mapping of the kernel.
//
// While the program has one task, all of the range is the kernel's. With tasks, what becomes
// writable there becomes memory of the backing, in pieces of up to kReserveChunk. Each piece is a
// memory segment, which remembers its parts that are not accessible. What is unmapped stays
// reserved, and is handed out again.
#pragma once

#include <stdint.h>

#include "base/types.h"
#include "memory/backing.h"

namespace weir::page {

inline constexpr uint64_t kReserve = 0x570000000000;
inline constexpr uint64_t kReserveSize = uint64_t{39} << 40;
inline constexpr uint64_t kReserveChunk = uint64_t{64} << 20;

// Where the allocator of clang's address sanitizer (since 17) reserves addresses of its own choice.
// Before, and gcc's, it is in the range above. What the program maps here is treated as there; Weir
// hands nothing out.
inline constexpr uint64_t kChosen = 0x500000000000;
inline constexpr uint64_t kChosenSize = uint64_t{5} << 40;

inline bool is_handed_out(uint64_t address) { return address - kReserve < kReserveSize; }
inline bool in_reserve(uint64_t address) {
  return is_handed_out(address) || address - kChosen < kChosenSize;
}
inline uint64_t reserve_limit(uint64_t address) {
  return is_handed_out(address) ? kReserve + kReserveSize : kChosen + kChosenSize;
}

// Returns 0 if there is no room. Guarded by: the turn, if tasks exist, for all functions below too.
uint64_t take_reserved(uint64_t size);
void give_reserved(uint64_t start, uint64_t size);
// The program chose this range itself. What is free of it is not handed out any more.
void claim_reserved(uint64_t start, uint64_t size);
// Returns the first address in [from, limit) that is in the backing, or `limit` if there is none.
uint64_t next_backed(uint64_t from, uint64_t limit);
// Calls act(start, size, is_backed) for the parts of a range that are memory of the backing, and
// that are not.
template <typename Act>
void each_part(uint64_t start, uint64_t size, Act act) {
  const uint64_t limit = start + size;
  for (uint64_t at = start; at < limit;) {
    const uint64_t backing = next_backed(at, limit);
    if (backing > at) {
      act(at, backing - at, false);
      at = backing;
      continue;
    }
    uint64_t length = backing_bytes_at(at);
    if (length > limit - at) length = limit - at;
    act(at, length, true);
    at += length;
  }
}

}  // namespace weir::page
