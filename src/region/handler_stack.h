// Where a region's handler runs.
#pragma once

#include <ucontext.h>

namespace weir::region {

// Calls body(argument): on the stack that the trap came in on or, if that is an alternate signal
// stack with little room left, on another one. `context`: the trap's.
void call_with_room(const ucontext_t& context, void (*body)(void*), void* argument);

}  // namespace weir::region
