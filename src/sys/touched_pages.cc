// PAGEMAP_SCAN (Linux 6.7) passes over page tables that do not exist. An older kernel's pagemap has
// an entry for each page that could be, and the 14 TiB of a sanitizer's shadow memory would be 30
// GB of them. mincore() has a byte for each, and is quick where there is no page table. It does not
// know of pages that are swapped out, so it only says where to look into pagemap: whole pieces of
// memory of which nothing is present count as untouched.
#include "sys/touched_pages.h"

#include <fcntl.h>

#include "sys/maps.h"
#include "sys/syscall_x86_64.h"

namespace weir::sys {

namespace {

struct ScanRegion {
  uint64_t start, end, categories;
};
struct ScanArguments {
  uint64_t size, flags, start, end, walk_end, vec, vec_len, max_pages;
  uint64_t category_inverted, category_mask, category_anyof_mask, return_mask;
};
static_assert(sizeof(ScanArguments) == 96);
constexpr long kScan = 0xc0606610;  // _IOWR('f', 16, struct pm_scan_arg)
constexpr uint64_t kPresent = 8, kSwapped = 16;

constexpr uint64_t kPiece = uint64_t{64} << 20;
constexpr uint64_t kLargest = uint64_t{1} << 30;  // that is looked up page by page

bool scan(long pagemap, Range within, Range& found) {
  ScanRegion region{};
  ScanArguments arguments{};
  arguments.size = sizeof arguments;
  arguments.start = within.start;
  arguments.end = within.limit;
  arguments.vec = reinterpret_cast<uint64_t>(&region);
  arguments.vec_len = 1;
  arguments.category_anyof_mask = arguments.return_mask = kPresent | kSwapped;
  const long count = raw(SYS_ioctl, pagemap, kScan, reinterpret_cast<long>(&arguments));
  if (failed(count)) return false;
  found = count ? Range{region.start, region.end} : Range{within.limit, within.limit};
  return true;
}

bool has_present(Range piece) {
  static uint8_t present[kPiece / kPageSize];
  if (failed(raw(SYS_mincore, static_cast<long>(piece.start), static_cast<long>(piece.size()),
                 reinterpret_cast<long>(present))))
    return true;
  for (uint64_t i = 0; i < piece.size() / kPageSize; i++)
    if (present[i] & 1) return true;
  return false;
}

// By their entries in pagemap.
Range look_up(long pagemap, Range within) {
  static uint64_t entries[512];
  Range found{within.limit, within.limit};
  for (uint64_t at = within.start; at < within.limit;) {
    const uint64_t left = (within.limit - at) / kPageSize, count = left < 512 ? left : 512;
    const long got = raw(SYS_pread64, pagemap, reinterpret_cast<long>(entries),
                         static_cast<long>(count * 8), static_cast<long>(at / kPageSize * 8));
    if (got != static_cast<long>(count * 8)) return {at, within.limit};
    for (uint64_t i = 0; i < count; i++, at += kPageSize) {
      const bool is_touched = entries[i] >> 62;
      if (is_touched && found.empty()) found.start = at;
      if (!is_touched && !found.empty()) return {found.start, at};
    }
  }
  return found;
}

Range search(long pagemap, Range within) {
  if (within.size() <= kLargest) return look_up(pagemap, within);
  for (uint64_t at = within.start; at < within.limit;) {
    const uint64_t limit = (at / kPiece + 1) * kPiece;
    const Range piece{at, limit < within.limit ? limit : within.limit};
    const Range found = has_present(piece) ? look_up(pagemap, piece) : Range{};
    if (!found.empty()) return found;
    at = piece.limit;
  }
  return {within.limit, within.limit};
}

}  // namespace

Range next_touched(Range within, bool may_scan) {
  if (within.empty() || within.start >= within.limit) return {within.limit, within.limit};
  const long pagemap = open_own("/proc/self/pagemap");
  if (failed(pagemap)) return within;
  Range found{};
  static bool cannot_scan = false;
  if (may_scan && !cannot_scan) cannot_scan = !scan(pagemap, within, found);
  if (!may_scan || cannot_scan) found = search(pagemap, within);
  raw(SYS_close, pagemap);
  return found;
}

}  // namespace weir::sys
