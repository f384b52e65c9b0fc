// How the written pages are found: the kernel's write protection by userfaultfd in its asynchronous mode lifts itself at
// the first write and sends nothing; PAGEMAP_SCAN tells which pages were written and protects them again in the same call.
// A page that was only read since it was mapped is reported once too, as a page of the file; it is no copy and is passed
// over.
//
// Invariants
// 1. Between two publications of this process, diff buffer entries [0, dirty_count) name pages whose private copy holds
//    bytes that the store does not, and no other page does.
// 2. After publish() this process has no private copy at all, so it reads the store.
//    A write to a page that was dropped faults twice: the copy is made protected, then the protection lifts. A signal can
//    come in between; then there is a copy that nothing reports. trap/ drops it before anybody publishes (drop_unwritten),
//    or the write would go to a copy that lacks what others published meanwhile, and its diff would take that back.
// 3. The runtime stack, this buffer and the tables are no store memory: nothing here writes to what it scans.

#include "view/isolated.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/userfaultfd.h>
#include <sys/mman.h>

#include "page/diff.h"
#include "page/heap.h"
#include "page/store.h"
#include "sys/report.h"
#include "sys/syscall_x86_64.h"
#include "task/shared.h"

#ifndef PAGEMAP_SCAN  // Linux 6.7; Debian 12's headers are older
#define PAGE_IS_WRITTEN (1 << 1)
#define PAGE_IS_FILE (1 << 2)
#define PM_SCAN_WP_MATCHING (1 << 0)
struct page_region {
  __u64 start, end, categories;
};
struct pm_scan_arg {
  __u64 size, flags, start, end, walk_end, vec, vec_len, max_pages;
  __u64 category_inverted, category_mask, category_anyof_mask, return_mask;
};
#define PAGEMAP_SCAN _IOWR('f', 16, struct pm_scan_arg)
#endif
#ifndef PAGE_IS_PRESENT
#define PAGE_IS_PRESENT (1 << 3)
#define PAGE_IS_SWAPPED (1 << 4)
#endif
#ifndef UFFD_FEATURE_WP_UNPOPULATED
#define UFFD_FEATURE_WP_UNPOPULATED (1 << 13)
#endif
#ifndef UFFD_FEATURE_WP_ASYNC
#define UFFD_FEATURE_WP_ASYNC (1 << 15)
#endif
#ifndef UFFD_USER_MODE_ONLY
#define UFFD_USER_MODE_ONLY 1
#endif

namespace weir::view {

namespace {

// Per process.
int g_userfault = -1;
int g_pagemap = -1;
constexpr uint64_t kRegions = 512;
page_region g_found[kRegions];

page::PageDiff* diffs_of(const Task& task) { return reinterpret_cast<page::PageDiff*>(kDiffs + task.id * kDiffSize); }

void scan(Task& task, uint64_t start, uint64_t limit) {
  while (start < limit) {
    pm_scan_arg arguments{};
    arguments.size = sizeof arguments;
    arguments.flags = PM_SCAN_WP_MATCHING;
    arguments.start = start;
    arguments.end = limit;
    arguments.vec = reinterpret_cast<uint64_t>(g_found);
    arguments.vec_len = kRegions;
    arguments.category_mask = PAGE_IS_WRITTEN;
    arguments.category_anyof_mask = PAGE_IS_PRESENT | PAGE_IS_SWAPPED;  // holes count as written
    arguments.return_mask = PAGE_IS_WRITTEN | PAGE_IS_FILE;
    long count = sys::raw(SYS_ioctl, g_pagemap, PAGEMAP_SCAN, reinterpret_cast<long>(&arguments));
    if (count < 0) {
      report("the kernel's page scan failed (error %d)", int64_t{-count});
      die(125);
    }
    page::PageDiff* diffs = diffs_of(task);
    for (long i = 0; i < count; i++) {
      if (g_found[i].categories & PAGE_IS_FILE) continue;
      for (uint64_t page = g_found[i].start; page < g_found[i].end; page += kPageSize) {
        if ((task.dirty_count + 1) * sizeof(page::PageDiff) > kDiffSize) {
          report("task %u wrote more than %u MB between two events", uint64_t{task.id},
                 kDiffSize / sizeof(page::PageDiff) * kPageSize >> 20);
          die(125);
        }
        page::PageDiff& diff = diffs[task.dirty_count++];
        diff.page = page;
        task.counters.faults++;
      }
    }
    start = arguments.walk_end;
  }
}

}  // namespace

bool open_tracking() {
  long file = sys::raw(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);
  if (sys::failed(file)) {
    report("this kernel gives no userfaultfd (error %d); View isolated needs it", int64_t{-file});
    return false;
  }
  g_userfault = page::hide_descriptor(static_cast<int>(file));
  uffdio_api api{};
  api.api = UFFD_API;
  api.features = UFFD_FEATURE_PAGEFAULT_FLAG_WP | UFFD_FEATURE_WP_HUGETLBFS_SHMEM | UFFD_FEATURE_WP_UNPOPULATED | UFFD_FEATURE_WP_ASYNC;
  long result = sys::raw(SYS_ioctl, g_userfault, UFFDIO_API, reinterpret_cast<long>(&api));
  if (sys::failed(result)) {
    report("this kernel's userfaultfd has no asynchronous write protection (Linux 6.7 has); View isolated needs it");
    return false;
  }
  file = sys::raw(SYS_open, reinterpret_cast<long>("/proc/self/pagemap"), O_RDONLY | O_CLOEXEC);
  if (sys::failed(file)) {
    report("cannot open /proc/self/pagemap (error %d); View isolated needs it", int64_t{-file});
    return false;
  }
  g_pagemap = page::hide_descriptor(static_cast<int>(file));
  track(kArena, kArenaSize);
  const Shared& s = shared();
  for (uint32_t i = 0; i < s.region_count; i++) {
    if (s.regions[i].live) track(s.regions[i].start, s.regions[i].size);
  }
  return true;
}

void close_tracking() {
  page::close_hidden(g_pagemap);
  page::close_hidden(g_userfault);
}

void track(uint64_t start, uint64_t size) {
  uffdio_register request{};
  request.range.start = start;
  request.range.len = page_up(size);
  request.mode = UFFDIO_REGISTER_MODE_WP;
  long result = sys::raw(SYS_ioctl, g_userfault, UFFDIO_REGISTER, reinterpret_cast<long>(&request));
  if (sys::failed(result)) {
    report("cannot track writes to %x+%x (error %d)", start, size, int64_t{-result});
    die(125);
  }
}

namespace {

// What can hold store pages, in few ranges: walking empty address space costs time too. Made anew when it has grown.
struct Ranges {
  uint64_t regions_version = ~uint64_t{0};
  uint32_t count = 0;
  Range outside[16];  // regions near each other
};
Ranges g_ranges;

void refresh_ranges() {
  const Shared& s = shared();
  g_ranges.regions_version = s.regions_version;
  g_ranges.count = 0;
  constexpr uint64_t kNear = 64 << 20;
  for (uint32_t i = 0; i < s.region_count; i++) {
    if (!s.regions[i].live) continue;
    Range range{s.regions[i].start, s.regions[i].start + s.regions[i].size};
    for (uint32_t k = 0; k < g_ranges.count;) {
      Range& other = g_ranges.outside[k];
      if (range.start < other.limit + kNear && other.start < range.limit + kNear) {
        if (other.start < range.start) range.start = other.start;
        if (other.limit > range.limit) range.limit = other.limit;
        other = g_ranges.outside[--g_ranges.count];
        k = 0;
      } else {
        k++;
      }
    }
    if (g_ranges.count == sizeof g_ranges.outside / sizeof g_ranges.outside[0]) {
      g_ranges.count = 1;
      g_ranges.outside[0] = Range{0x1000, 0x7ffffffff000};
      return;
    }
    g_ranges.outside[g_ranges.count++] = range;
  }
}

}  // namespace

void find_writes(Task& task) {
  Shared& s = shared();
  task.dirty_count = 0;
  page::dump_used();
  if (g_ranges.regions_version != s.regions_version) refresh_ranges();
  for (uint32_t i = 0; i < g_ranges.count; i++) scan(task, g_ranges.outside[i].start, g_ranges.outside[i].limit);
  const Range heaps = heap_table_range();
  const Range segments = heap_segment_range();
  scan(task, heaps.start, heaps.limit);
  scan(task, segments.start, segments.limit);
  scan(task, kArena + kHeapSize, s.map_bump);
  page::PageDiff* diffs = diffs_of(task);
  for (uint64_t i = 0; i < task.dirty_count; i++) {
    page::PageDiff& diff = diffs[i];
    uint64_t twin = page::alias_of(diff.page);
    uint32_t bytes = page::make_diff(reinterpret_cast<const void*>(diff.page), reinterpret_cast<const void*>(twin), &diff);
    if (bytes) {
      task.counters.diffs++;
      task.counters.bytes += bytes;
    }
  }
}

void publish(Task& task) {
  page::PageDiff* diffs = diffs_of(task);
  const uint64_t count = task.dirty_count;
  for (uint64_t i = 0; i < count; i++) {
    page::apply_diff(diffs[i], reinterpret_cast<const void*>(diffs[i].page),
                     reinterpret_cast<void*>(page::alias_of(diffs[i].page)));
  }
  for (uint64_t i = 0; i < count;) {
    uint64_t start = diffs[i].page;
    uint64_t limit = start + kPageSize;
    for (i++; i < count && diffs[i].page == limit; i++) limit += kPageSize;
    drop(start, limit - start);
  }
  task.dirty_count = 0;
}

void drop_unwritten(uint64_t start, uint64_t size) {
  const uint64_t limit = page_up(start + size);
  for (uint64_t at = page_down(start); at < limit;) {
    page_region found[16];
    pm_scan_arg arguments{};
    arguments.size = sizeof arguments;
    arguments.start = at;
    arguments.end = limit;
    arguments.vec = reinterpret_cast<uint64_t>(found);
    arguments.vec_len = sizeof found / sizeof found[0];
    arguments.category_inverted = PAGE_IS_FILE | PAGE_IS_WRITTEN;
    arguments.category_mask = PAGE_IS_FILE | PAGE_IS_WRITTEN | PAGE_IS_PRESENT;
    arguments.return_mask = PAGE_IS_PRESENT;
    long count = sys::raw(SYS_ioctl, g_pagemap, PAGEMAP_SCAN, reinterpret_cast<long>(&arguments));
    if (count < 0) return;
    for (long i = 0; i < count; i++) {
      if (page::store_extent(found[i].start)) drop(found[i].start, found[i].end - found[i].start);
    }
    at = arguments.walk_end;
  }
}

void drop(uint64_t start, uint64_t size) {
  sys::raw(SYS_madvise, static_cast<long>(start), static_cast<long>(size), MADV_DONTNEED);
}

}  // namespace weir::view
