// Which pages of private memory this process has touched.
#pragma once

#include <stdint.h>

#include "base/types.h"

namespace weir::sys {

class TouchedPages {
 public:
  // `may_scan`: where the kernel has PAGEMAP_SCAN.
  explicit TouchedPages(bool may_scan = true);
  ~TouchedPages();
  TouchedPages(const TouchedPages&) = delete;
  TouchedPages& operator=(const TouchedPages&) = delete;

  // Returns the next stretch of pages in `within` that the kernel has given memory to, in memory or
  // swapped out; an empty range if there is none. Of holes of terabytes it says so at once. If it
  // cannot be known, all of `within` counts as touched. REQUIRES: private memory.
  Range next(Range within);

 private:
  const long pagemap_;
  bool scans_;
};

// Calls act(range) for each such stretch.
template <typename Act>
void each_touched(Range within, Act act, bool may_scan = true) {
  TouchedPages pages(may_scan);
  for (Range part{within.start, 0}; part.start < within.limit; part.start = part.limit) {
    part = pages.next({part.start, within.limit});
    if (!part.empty()) act(part);
  }
}

}  // namespace weir::sys
