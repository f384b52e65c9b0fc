#include "memory/reserve.h"

#include "base/free_ranges.h"
#include "control/control.h"

namespace weir::page {

namespace {

constexpr uint32_t kMaxFree =
    sizeof(MemoryState::reserve_free) / sizeof(MemoryState::reserve_free[0]);

// act(what is free).
template <typename Act>
void with_free(Act act) {
  Shared& s = shared();
  uint64_t top = kReserve + s.memory.reserve_used;
  act(FreeRanges{s.memory.reserve_free, s.memory.reserve_free_count, kMaxFree, top});
  s.memory.reserve_used = top - kReserve;
}

}  // namespace

uint64_t take_reserved(uint64_t size) {
  Shared& s = shared();
  size = page_up(size);
  uint32_t best = kMaxFree;
  for (uint32_t i = 0; i < s.memory.reserve_free_count; i++) {
    if (s.memory.reserve_free[i].size() < size) continue;
    if (best == kMaxFree || s.memory.reserve_free[i].start < s.memory.reserve_free[best].start)
      best = i;
  }
  uint64_t start = 0;
  if (best < kMaxFree) {
    with_free([&](FreeRanges ranges) { start = ranges.take(best, size); });
  } else if (size <= kReserveSize - s.memory.reserve_used) {
    start = kReserve + s.memory.reserve_used;
    s.memory.reserve_used += size;
  }
  return start;
}

void give_reserved(uint64_t start, uint64_t size) {
  if (!is_handed_out(start)) return;
  with_free([=](FreeRanges ranges) { ranges.give({start, start + page_up(size)}); });
}

void claim_reserved(uint64_t start, uint64_t size) {
  if (!is_handed_out(start)) return;
  with_free([=](FreeRanges ranges) { ranges.claim({start, start + page_up(size)}); });
}

uint64_t next_backed(uint64_t from, uint64_t limit) {
  if (in_arena(from)) return from;
  if (from < kArena && kArena < limit) limit = kArena;
  const Shared& s = shared();
  for (uint32_t i = 0; i < s.memory.segment_count; i++) {
    const MemorySegment& r = s.memory.segments[i];
    if (!r.live || r.start + r.size <= from || r.start >= limit) continue;
    limit = r.start < from ? from : r.start;
  }
  return limit;
}

}  // namespace weir::page
