// /proc/self/pagemap: its entries, and PAGEMAP_SCAN, which Debian 12's headers do not know.
#pragma once

#include <stdint.h>

namespace weir::sys::page_map {

// --- an entry: eight bytes for each page

constexpr uint64_t kPresent = uint64_t{1} << 63, kSwapped = uint64_t{1} << 62,
                   kOfFile = uint64_t{1} << 61;

// The process has touched the page: it is in memory, or swapped out.
inline bool is_touched(uint64_t entry) { return entry & (kPresent | kSwapped); }
// Of a private mapping of a file: the page is a copy.
inline bool is_copy(uint64_t entry) {
  return (entry & kSwapped) || ((entry & kPresent) && !(entry & kOfFile));
}

// --- PAGEMAP_SCAN (Linux 6.7): struct page_region and pm_scan_arg of the kernel's linux/fs.h

struct Region {
  uint64_t start, end, categories;
};
struct Scan {
  uint64_t size, flags, start, end, walk_end, vec, vec_len, max_pages;
  uint64_t category_inverted, category_mask, category_anyof_mask, return_mask;
};
static_assert(sizeof(Scan) == 96);
constexpr long kScan = 0xc0606610;     // _IOWR('f', 16, Scan)
constexpr uint64_t kMarkMatching = 1;  // a flag: what matches is write-protected again
// Categories.
constexpr uint64_t kIsTracked = 1 << 0, kIsWritten = 1 << 1, kIsFile = 1 << 2, kIsPresent = 1 << 3,
                   kIsSwapped = 1 << 4;

// Of [start, limit), into `count` regions.
inline Scan scan_into(Region* regions, uint64_t count, uint64_t start, uint64_t limit) {
  Scan scan{};
  scan.size = sizeof scan;
  scan.start = start;
  scan.end = limit;
  scan.vec = reinterpret_cast<uint64_t>(regions);
  scan.vec_len = count;
  return scan;
}

}  // namespace weir::sys::page_map
