#include "memory/mapped.h"

#include <errno.h>
#include <sys/mman.h>

#include "control/control.h"
#include "memory/backing.h"
#include "memory/reserve.h"
#include "sys/spinlock.h"
#include "sys/syscall_x86_64.h"

namespace weir::page {

namespace {

// Among the addresses below `top` those of a table are free, and so is what lies above.
uint64_t first_free(const Range* free, uint32_t count, uint64_t top, Range range) {
  uint64_t first = range.limit;
  if (top < first) first = top > range.start ? top : range.start;
  for (uint32_t i = 0; i < count; i++) {
    if (!free[i].overlaps({range.start, first})) continue;
    first = free[i].start > range.start ? free[i].start : range.start;
  }
  return first;
}

// The kernel says of a range whether a page is missing: halved until it is found.
uint64_t first_hole_of_kernel(Range range) {
  const auto is_whole = [start = range.start](uint64_t limit) {
    return sys::raw(SYS_msync, static_cast<long>(start), static_cast<long>(limit - start),
                    MS_ASYNC) != -ENOMEM;
  };
  if (is_whole(range.limit)) return range.limit;
  uint64_t whole = range.start, hole = range.limit;
  while (hole - whole > kPageSize) {
    const uint64_t middle = page_down(whole + (hole - whole) / 2);
    (is_whole(middle) ? whole : hole) = middle;
  }
  return whole;
}

}  // namespace

uint64_t first_hole(Range range) {
  MemoryState& s = shared().memory;
  const uint64_t extents = kArena + kHeapSize;
  // Whose addresses are handed out how, by address. What lies between is the kernel's.
  struct Area {
    Range range;
    uint64_t top;  // free from here on
    const Range* free;
    uint32_t count;
  };
  SpinGuard guard(s.lock);
  Area areas[] = {
      {{extents, kArena + kArenaSize}, s.map_bump, s.free_extents, s.free_count},
      {{kReserve, kReserve + s.reserve_high},  // above, nothing of Weir's is mapped
       kReserve + s.reserve_used,
       s.reserve_free,
       s.reserve_free_count},
      {{s.brk_start, s.brk_limit}, page_up(s.brk_now), nullptr, 0},
  };
  for (uint64_t at = range.start; at < range.limit;) {
    Range part{at, range.limit};
    const Area* within = nullptr;
    for (const Area& area : areas) {
      if (area.range.contains(at)) {
        within = &area;
        if (area.range.limit < part.limit) part.limit = area.range.limit;
      } else if (area.range.start > at && area.range.start < part.limit) {
        part.limit = area.range.start;
      }
    }
    const uint64_t hole = within ? first_free(within->free, within->count, within->top, part)
                                 : first_hole_of_kernel(part);
    if (hole != part.limit) return hole;
    at = part.limit;
  }
  return range.limit;
}

}  // namespace weir::page
