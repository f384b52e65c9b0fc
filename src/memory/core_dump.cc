// What a core file holds. The kernel writes every page of a private mapping of a file, and makes
// the pages that were never touched for that purpose. The arena and the program's brk are address
// space of which most is never used. So only what is used is left open to the core file, and some
// more, because a task may take memory and crash before the next look.
//
// Invariant: in this process the part of each area below its limit is dumped, and no more. (not
// checkable: the kernel says it in smaps only, at the price of a walk)

#include <sys/mman.h>

#include "heap/heap.h"
#include "memory/backing.h"
#include "sys/syscall_x86_64.h"

namespace weir::page {

namespace {

constexpr uint64_t kSlack = 4 << 20;

struct Area {
  uint64_t start, limit, end;  // dumped below `limit`
};
Area g_heap, g_map, g_brk;  // per process

void advise(uint64_t start, uint64_t limit, int advice) {
  if (start < limit)
    sys::raw(SYS_madvise, static_cast<long>(start), static_cast<long>(limit - start), advice);
}

void close(Area& area, uint64_t start, uint64_t end) {
  area = {start, start, end};
  advise(start, end, MADV_DONTDUMP);
}

void open(Area& area, uint64_t used) {
  if (area.start == area.end) return;
  if (used < area.start) used = area.start;
  if (used + kSlack / 2 <= area.limit || area.limit == area.end) return;
  uint64_t limit = page_up(used) + kSlack;
  if (limit > area.end) limit = area.end;
  advise(area.limit, limit, MADV_DODUMP);
  area.limit = limit;
}

}  // namespace

void dump_only_used() {
  const Shared& s = shared();
  close(g_heap, kArena, kArena + kHeapSize);
  const bool stored = s.memory.backing >= 0;
  close(g_map, kArena + kHeapSize, stored ? kArena + kArenaSize : kArena + kHeapSize);
  close(g_brk, s.memory.brk_start, stored ? s.memory.brk_limit : s.memory.brk_start);
  dump_used();
}

void dump_used() {
  const Shared& s = shared();
  open(g_heap, heap_segment_range().limit);
  open(g_map, s.memory.map_bump);
  open(g_brk, s.memory.brk_now);
}

}  // namespace weir::page
