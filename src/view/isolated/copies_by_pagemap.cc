#include "view/isolated/copies_by_pagemap.h"

#include <errno.h>
#include <unistd.h>

#include "control/control.h"
#include "heap/heap.h"
#include "memory/backing.h"
#include "sys/page_map.h"
#include "sys/report.h"
#include "sys/syscall_x86_64.h"

namespace weir::view::isolated {

namespace {

constexpr uint64_t kEntries = 512;  // a page of entries, for 2 MB
uint64_t g_entries[kEntries];       // per process

// The next offset in the backing, from `offset` on, at which it has held something; ~0: none.
uint64_t next_data(uint64_t offset) {
  const long found =
      sys::raw(SYS_lseek, shared().memory.backing, static_cast<long>(offset), SEEK_DATA);
  if (found == -ENXIO) return ~uint64_t{0};
  return sys::failed(found) ? offset : static_cast<uint64_t>(found);
}

struct Scan {
  Task& task;
  AddPage add;
  int pagemap;
};

// [start, limit) shows the backing from `offset` on.
void scan(const Scan& scan, uint64_t start, uint64_t limit, uint64_t offset) {
  for (uint64_t at = start; at < limit;) {
    const uint64_t data = next_data(offset + (at - start));
    if (data >= offset + (limit - start)) return;
    at = page_down(start + (data - offset));
    uint64_t count = (limit - at) / kPageSize;
    if (count > kEntries) count = kEntries;
    const long size = static_cast<long>(count * sizeof(uint64_t));
    const long got = sys::raw(SYS_pread64, scan.pagemap, reinterpret_cast<long>(g_entries), size,
                              static_cast<long>(at / kPageSize * sizeof(uint64_t)));
    if (got != size) {
      report("cannot read /proc/self/pagemap (error %d)", int64_t{-got});
      die(125);
    }
    for (uint64_t i = 0; i < count; i++) {
      if (sys::page_map::is_copy(g_entries[i])) scan.add(scan.task, at + i * kPageSize);
    }
    at += count * kPageSize;
  }
}

}  // namespace

void for_each_copy_by_pagemap(Task& task, AddPage add, int pagemap) {
  const MemoryState& memory = shared().memory;
  const Scan all{task, add, pagemap};
  for (uint32_t i = 0; i < memory.segment_count; i++) {
    const MemorySegment& segment = memory.segments[i];
    if (!segment.live) continue;
    uint64_t limit = page_up(segment.start + segment.size);
    if (limit == memory.brk_limit) limit = page_up(memory.brk_now);
    scan(all, segment.start, limit, segment.offset);
  }
  const auto scan_arena = [&all](uint64_t start, uint64_t limit) {
    scan(all, start, limit, start - kArena);
  };
  const Range heaps = heap_table_range(), blocks = heap_segment_range();
  scan_arena(heaps.start, heaps.limit);
  scan_arena(blocks.start, blocks.limit);
  scan_arena(kArena + kHeapSize, memory.map_bump);
}

}  // namespace weir::view::isolated
