// Uses of shared memory that cannot be right, and are refused with a line that says so.
#pragma once

#include <stdint.h>

#include "syscall/effects/effects.h"

namespace weir::dsm {

// Whether the call names shared memory in a way that is refused; then that has been said. The
// filter sends all calls of these numbers. `fetch` copies from the program's memory.
bool is_refused(const effects::Request& request, bool (*is_shared)(uint64_t address),
                effects::Fetch fetch);

}  // namespace weir::dsm
