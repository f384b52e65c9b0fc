#include "page/reserve.h"

#include "task/shared.h"

namespace weir::page {

namespace {

constexpr uint32_t kMostFree = sizeof(Shared::reserve_free) / sizeof(Shared::reserve_free[0]);

void add_free(Range range) {
  Shared& s = shared();
  if (!range.empty() && s.reserve_free_count < kMostFree)
    s.reserve_free[s.reserve_free_count++] = range;
}

}  // namespace

uint64_t take_reserved(uint64_t size) {
  Shared& s = shared();
  size = page_up(size);
  uint32_t best = kMostFree;
  for (uint32_t i = 0; i < s.reserve_free_count; i++) {
    if (s.reserve_free[i].size() < size) continue;
    if (best == kMostFree || s.reserve_free[i].start < s.reserve_free[best].start) best = i;
  }
  if (best < kMostFree) {
    Range& range = s.reserve_free[best];
    const uint64_t start = range.start;
    range.start += size;
    if (range.empty()) range = s.reserve_free[--s.reserve_free_count];
    return start;
  }
  if (size > kReserveSize - s.reserve_used) return 0;
  const uint64_t start = kReserve + s.reserve_used;
  s.reserve_used += size;
  return start;
}

void give_reserved(uint64_t start, uint64_t size) {
  Shared& s = shared();
  Range range{start, start + page_up(size)};
  if (range.limit > kReserve + s.reserve_used) range.limit = kReserve + s.reserve_used;
  if (range.start >= range.limit) return;
  for (uint32_t i = 0; i < s.reserve_free_count;) {
    Range& other = s.reserve_free[i];
    if (other.limit == range.start || other.start == range.limit || other.overlaps(range)) {
      if (other.start < range.start) range.start = other.start;
      if (other.limit > range.limit) range.limit = other.limit;
      other = s.reserve_free[--s.reserve_free_count];
      i = 0;
    } else {
      i++;
    }
  }
  if (range.limit == kReserve + s.reserve_used) s.reserve_used = range.start - kReserve;
  else add_free(range);
}

void claim_reserved(uint64_t start, uint64_t size) {
  Shared& s = shared();
  const Range range{start, start + page_up(size)};
  for (uint32_t i = 0; i < s.reserve_free_count;) {
    const Range old = s.reserve_free[i];
    if (!old.overlaps(range)) {
      i++;
      continue;
    }
    s.reserve_free[i] = s.reserve_free[--s.reserve_free_count];
    add_free({old.start, old.start < range.start ? range.start : old.start});
    add_free({range.limit, range.limit < old.limit ? old.limit : range.limit});
  }
  const uint64_t used = kReserve + s.reserve_used;
  if (range.limit > used) {
    add_free({used, used < range.start ? range.start : used});
    s.reserve_used = range.limit - kReserve;
  }
}

uint64_t next_store(uint64_t from, uint64_t limit) {
  const Shared& s = shared();
  for (uint32_t i = 0; i < s.region_count; i++) {
    const Region& r = s.regions[i];
    if (!r.live || r.start + r.size <= from || r.start >= limit) continue;
    limit = r.start < from ? from : r.start;
  }
  return limit;
}

}  // namespace weir::page
