// Uses of shared memory that cannot be right, and are refused with a line that says so.
#pragma once

#include <stdint.h>

#include "effects/effects.h"

namespace weir::dsm {

// The error of a call that names shared memory in a way that is refused, which has been said then;
// 0: it is not. The filter sends all calls of io_submit and io_uring_register, others if their
// pointers are shared. `fetch` copies from the program's memory.
int refused_with(const effects::Request& request, bool (*is_shared)(uint64_t address),
                 effects::Fetch fetch);

}  // namespace weir::dsm
