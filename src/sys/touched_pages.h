// Which pages of private memory this process has touched.
#pragma once

#include <stdint.h>

#include "base/types.h"

namespace weir::sys {

// Returns the next stretch of pages in `within` that the kernel has given memory to, in memory or
// swapped out; an empty range if there is none. Of holes of terabytes it says so at once. If it
// cannot be known, all of `within` counts as touched. REQUIRES: private memory.
// `may_scan`: where the kernel has PAGEMAP_SCAN.
Range next_touched(Range within, bool may_scan = true);

}  // namespace weir::sys
