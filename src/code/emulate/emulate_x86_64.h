// Executing one common instruction of the program's for it: moves, and arithmetic, between
// registers and memory that its process has not mapped.
#pragma once

#include <stdint.h>
#include <ucontext.h>

namespace weir::trap {

// Executes an instruction whose one memory operand means the `size` bytes at `address`. Registers,
// flags and rip of the context are then what the processor would have left. Returns false, having
// done nothing, if the instruction is not one of those known here.
bool emulate(ucontext_t& context, uint64_t address, uint64_t size);

// As emulate(), for `rep movs` and `rep stos` upwards of a few pages at most, all of it memory of
// the backing.
bool emulate_repeated(ucontext_t& context);

}  // namespace weir::trap
