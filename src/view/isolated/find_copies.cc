// How the written pages are found. A written page is a private copy, and every copy is dropped when
// it has been published, so the copies are the written pages. To find them the kernel would have to
// look up every page that is present. So pages that are only read are marked by userfaultfd's
// asynchronous write protection, which lifts itself at a write and sends nothing. A first
// PAGEMAP_SCAN passes over marked pages: one bit of a page table entry, and no page is looked up.
// It reports copies, holes, and pages read for the first time. A second one looks at these only,
// and marks the last kind (scan). A copy is never marked. A hole that remembers a mark (from a
// marked page that was dropped) faults twice when written.
#include "view/isolated/find_copies.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>

#include "control/control.h"
#include "heap/heap.h"
#include "memory/backing.h"
#include "memory/userfault.h"
#include "sys/fault_log.h"
#include "sys/maps.h"
#include "sys/page_map.h"
#include "sys/report.h"
#include "sys/syscall_x86_64.h"
#include "view/isolated/copies_by_pagemap.h"
#include "view/isolated/isolated.h"

namespace weir::view::isolated {

namespace {

using namespace sys::page_map;

// Per process.
page::Userfault g_userfault;
int g_pagemap = -1;
constexpr uint64_t kRegions = 512;
Region g_unmarked[kRegions];
Region g_found[kRegions];

long scan_pages(Scan& arguments) {
  const long count = sys::raw(SYS_ioctl, g_pagemap, kScan, reinterpret_cast<long>(&arguments));
  if (count < 0) {
    report("the kernel's page scan failed (error %d)", int64_t{-count});
    die(125);
  }
  return count;
}

// The copies among unmarked pages; pages of the backing found there are marked where it pays.
void find_copies(AddPage add, Task& task, uint64_t start, uint64_t limit) {
  constexpr uint64_t kWorthMarking = 4;
  uint64_t only_read = 0;
  for (uint64_t at = start; at < limit;) {
    Scan arguments = scan_into(g_found, kRegions, at, limit);
    arguments.category_mask = kIsWritten | kIsTracked;        // tracked memory only
    arguments.category_anyof_mask = kIsPresent | kIsSwapped;  // holes count as written
    arguments.return_mask = kIsWritten | kIsFile;
    const long count = scan_pages(arguments);
    for (long i = 0; i < count; i++) {
      if (g_found[i].categories & kIsFile) {
        only_read += (g_found[i].end - g_found[i].start) / kPageSize;
        continue;
      }
      for (uint64_t page = g_found[i].start; page < g_found[i].end; page += kPageSize)
        add(task, page);
    }
    at = arguments.walk_end;
  }
  if (only_read < kWorthMarking) return;
  for (uint64_t at = start; at < limit;) {
    // Without room for an answer the kernel marks everything.
    Scan arguments = scan_into(g_found, kRegions, at, limit);
    arguments.flags = kMarkMatching;
    arguments.category_mask = kIsWritten | kIsFile | kIsTracked;
    arguments.return_mask = kIsFile;
    scan_pages(arguments);
    at = arguments.walk_end;
  }
}

void scan(AddPage add, Task& task, uint64_t start, uint64_t limit) {
  constexpr uint64_t kNear = 16 * kPageSize;
  while (start < limit) {
    Scan arguments = scan_into(g_unmarked, kRegions, start, limit);
    arguments.category_mask = kIsWritten;
    arguments.return_mask = kIsWritten;  // these masks and no others take the kernel's short way
    const long count = scan_pages(arguments);
    for (long i = 0; i < count;) {
      const uint64_t from = g_unmarked[i].start;
      uint64_t to = g_unmarked[i].end;
      for (i++; i < count && g_unmarked[i].start <= to + kNear; i++) to = g_unmarked[i].end;
      find_copies(add, task, from, to);
    }
    start = arguments.walk_end;
  }
}

}  // namespace

bool open_tracking() {
  forget_copies();
  sys::start_fault_log(kFaultLog);
  if (!page::open_tracker(g_userfault, sys::kAsynchronousProtection, "isolated")) return false;
  const long file = sys::open_own([] {
    constexpr char kPath[] = "/proc/self/pagemap";
    const long opened =
        page::open_hidden_patiently(SYS_open, reinterpret_cast<long>(kPath), O_RDONLY | O_CLOEXEC);
    if (opened != -ENOENT || !*sys::g_proc_folder) return opened;
    return page::open_hidden(SYS_openat, *sys::g_proc_folder,
                             reinterpret_cast<long>(kPath) + (sizeof "/proc/" - 1),
                             O_RDONLY | O_CLOEXEC);
  });
  if (sys::failed(file)) {
    report("cannot open /proc/self/pagemap (error %d); View isolated needs it%s", int64_t{-file},
           page::of_descriptors(file));
    return false;
  }
  g_pagemap = static_cast<int>(file);
  page::each_range(track);
  return true;
}

void close_tracking() {
  page::close_hidden(g_pagemap);
  g_userfault.close();
}

void track(uint64_t start, uint64_t size) {
  if (!g_userfault.is_open()) return;
  const long result = g_userfault.watch(start, size, UFFDIO_REGISTER_MODE_WP);
  if (sys::failed(result)) {
    report("cannot track writes to %x+%x (error %d)", start, size, int64_t{-result});
    die(125);
  }
}

namespace {

// What can hold pages of the backing outside the arena, made anew when it has changed. Small
// segments near each other (the data of a program's libraries) are looked through together, page by
// page; large ones each by itself, the short way.
struct Ranges {
  static constexpr uint32_t kMax = 48;
  uint64_t segments_version = ~uint64_t{0};
  uint64_t brk_now = 0;
  uint32_t small_count = 0, large_count = 0;
  Range small[kMax], large[kMax];
};
Ranges g_ranges;

void add_small(Range range) {
  constexpr uint64_t kNear = 64 << 20;
  for (uint32_t k = 0; k < g_ranges.small_count;) {
    Range& other = g_ranges.small[k];
    if (range.start < other.limit + kNear && other.start < range.limit + kNear) {
      if (other.start < range.start) range.start = other.start;
      if (other.limit > range.limit) range.limit = other.limit;
      other = g_ranges.small[--g_ranges.small_count];
      k = 0;
    } else {
      k++;
    }
  }
  if (g_ranges.small_count == Ranges::kMax) {
    g_ranges.small_count = 0;
    range = Range{0x1000, 0x7ffffffff000};
  }
  g_ranges.small[g_ranges.small_count++] = range;
}

void refresh_ranges() {
  constexpr uint64_t kLarge = 1 << 20;
  const Shared& s = shared();
  g_ranges.segments_version = s.memory.segments_version;
  g_ranges.brk_now = s.memory.brk_now;
  g_ranges.small_count = g_ranges.large_count = 0;
  for (uint32_t i = 0; i < s.memory.segment_count; i++) {
    if (!s.memory.segments[i].live) continue;
    Range range{s.memory.segments[i].start, s.memory.segments[i].start + s.memory.segments[i].size};
    if (range.limit == s.memory.brk_limit)
      range.limit = page_up(s.memory.brk_now);  // most of it is never used
    if (range.empty()) continue;
    if (range.size() >= kLarge && g_ranges.large_count < Ranges::kMax) {
      g_ranges.large[g_ranges.large_count++] = range;
    } else {
      add_small(range);
    }
  }
}

}  // namespace

namespace {

// Which of the two ways is the shorter one depends on what a range holds: many pages that are only
// read (the short way), or holes, of which the short way reports each (a thread's stack). Both find
// the same.
struct Way {
  uint64_t cost[2];  // cycles, lately
  uint32_t count;
};
enum : uint32_t { kHeapsWay = Ranges::kMax, kSegmentsWay, kMapsWay, kWays };
Way g_ways[kWays];

void scan_range(AddPage add, Task& task, uint32_t index, uint64_t start, uint64_t limit) {
  constexpr uint32_t kTryNear = 32,
                     kTryFar = 1024;  // a way that is much longer is tried more rarely
  if (start >= limit) return;
  Way& way = g_ways[index];
  const unsigned shorter = way.cost[1] < way.cost[0];
  const bool far = way.cost[!shorter] > 3 * way.cost[shorter];
  const unsigned chosen = way.count++ % (far ? kTryFar : kTryNear) ? shorter : !shorter;
  const uint64_t begin = sys::cycles();
  (chosen ? find_copies : scan)(add, task, start, limit);
  const uint64_t taken = sys::cycles() - begin;
  way.cost[chosen] = way.cost[chosen] ? (3 * way.cost[chosen] + taken) / 4 : taken;
}

}  // namespace

void for_each_copy(Task& task, AddPage add) {
  Shared& s = shared();
  page::dump_used();
  if (!g_userfault.is_open()) return for_each_copy_by_pagemap(task, add, g_pagemap);
  if (g_ranges.segments_version != s.memory.segments_version ||
      g_ranges.brk_now != s.memory.brk_now)
    refresh_ranges();
  for (uint32_t i = 0; i < g_ranges.small_count; i++)
    find_copies(add, task, g_ranges.small[i].start, g_ranges.small[i].limit);
  for (uint32_t i = 0; i < g_ranges.large_count; i++)
    scan_range(add, task, i, g_ranges.large[i].start, g_ranges.large[i].limit);
  const Range heaps = heap_table_range();
  const Range segments = heap_segment_range();
  scan_range(add, task, kHeapsWay, heaps.start,
             heaps.start + heaps.size() / kMaxHeaps * s.order.high_task);
  scan_range(add, task, kSegmentsWay, segments.start, segments.limit);
  scan_range(add, task, kMapsWay, kArena + kHeapSize, s.memory.map_bump);
}

bool is_copy(uint64_t page) {
  uint64_t entry = 0;
  const long got = sys::raw(SYS_pread64, g_pagemap, reinterpret_cast<long>(&entry), sizeof entry,
                            static_cast<long>(page / kPageSize * 8));
  return got != sizeof entry || sys::page_map::is_copy(entry);
}

void for_each_unwritten(uint64_t start, uint64_t size,
                        void (*found)(uint64_t start, uint64_t size)) {
  if (!g_userfault.is_open()) return;  // no copy is hidden by a mark
  const uint64_t limit = page_up(start + size);
  for (uint64_t at = page_down(start); at < limit;) {
    Region regions[16];
    Scan arguments = scan_into(regions, sizeof regions / sizeof regions[0], at, limit);
    arguments.category_inverted = kIsFile | kIsWritten;
    arguments.category_mask = kIsFile | kIsWritten | kIsPresent;
    arguments.return_mask = kIsPresent;
    long count = sys::raw(SYS_ioctl, g_pagemap, kScan, reinterpret_cast<long>(&arguments));
    if (count < 0) return;
    for (long i = 0; i < count; i++) { found(regions[i].start, regions[i].end - regions[i].start); }
    at = arguments.walk_end;
  }
}

}  // namespace weir::view::isolated
