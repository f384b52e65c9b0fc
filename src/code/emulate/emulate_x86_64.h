// Executing one common instruction of the program's for it: moves, and arithmetic, between
// registers and memory that its process has not mapped.
#pragma once

#include <stdint.h>
#include <ucontext.h>

namespace weir::trap {

// `address`: the bytes that its one memory operand means; `size` of them. Registers, flags and rip
// of the context are then what the processor would have left. False: nothing is done; it is none of
// those that are known here.
bool emulate(ucontext_t& context, uint64_t address, uint64_t size);

}  // namespace weir::trap
