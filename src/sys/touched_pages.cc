// PAGEMAP_SCAN (Linux 6.7) passes over page tables that do not exist. An older kernel's pagemap has
// an entry for each page that could be, and the 14 TiB of a sanitizer's shadow memory would be 30
// GB of them. mincore() has a byte for each, and is quick where there is no page table. It does not
// know of pages that are swapped out, so it only says where to look into pagemap: whole pieces of
// memory of which nothing is present count as untouched.
#include "sys/touched_pages.h"

#include <fcntl.h>

#include "sys/maps.h"
#include "sys/page_map.h"
#include "sys/syscall_x86_64.h"

namespace weir::sys {

namespace {

constexpr uint64_t kPiece = uint64_t{64} << 20;
constexpr uint64_t kLargest = uint64_t{1} << 30;  // that is looked up page by page

bool scan(long pagemap, Range within, Range& found) {
  page_map::Region region{};
  page_map::Scan arguments = page_map::scan_into(&region, 1, within.start, within.limit);
  arguments.category_anyof_mask = arguments.return_mask =
      page_map::kIsPresent | page_map::kIsSwapped;
  const long count = raw(SYS_ioctl, pagemap, page_map::kScan, reinterpret_cast<long>(&arguments));
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
      const bool is_touched = page_map::is_touched(entries[i]);
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

TouchedPages::TouchedPages(bool may_scan)
    : pagemap_(open_own("/proc/self/pagemap")), scans_(may_scan) {}

TouchedPages::~TouchedPages() {
  if (!failed(pagemap_)) raw(SYS_close, pagemap_);
}

Range TouchedPages::next(Range within) {
  if (within.empty() || within.start >= within.limit) return {within.limit, within.limit};
  if (failed(pagemap_)) return within;
  Range found{};
  if (scans_) scans_ = scan(pagemap_, within, found);
  return scans_ ? found : search(pagemap_, within);
}

}  // namespace weir::sys
