// Which of a range of addresses is the program's. Where Weir hands addresses out (the arena, brk,
// the reserved addresses), the kernel has everything mapped, also what the program has given back
// or has never had.
#pragma once

#include "base/types.h"

namespace weir::page {

// Returns where the first page lies of which the program has nothing mapped; the range's limit if
// there is none. REQUIRES: whole pages; the turn, if tasks exist. A thread's stack that is being
// made needs no turn.
uint64_t first_hole(Range range);
inline bool has_hole(Range range) { return first_hole(range) != range.limit; }

}  // namespace weir::page
