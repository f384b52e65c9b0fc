// Executing one common instruction of the program's for it: moves, and arithmetic, between
// registers and memory that its process has not mapped.
#pragma once

#include <stdint.h>
#include <ucontext.h>

#include "base/types.h"

namespace weir::trap {

// Executes an instruction whose one memory operand means the `size` bytes at `address`. Registers,
// flags and rip of the context are then what the processor would have left. Returns false, having
// done nothing, if the instruction is not one of those known here.
bool emulate(ucontext_t& context, uint64_t address, uint64_t size);

// As emulate(), for `rep movs` and `rep stos` upwards of a few pages at most, all of it memory of
// the backing.
bool emulate_repeated(ucontext_t& context);

// The bytes that what is left of a repeated string instruction will access, `from` empty if that
// is not one of its operands. One that compares may end before. Returns false if the instruction is
// not known here.
struct RepeatedRanges {
  Range to, from;
};
bool ranges_of_repeated(const ucontext_t& context, RepeatedRanges& ranges);
// Carries that out. The two are seen by the runtime so far above the program's addresses. Returns
// true if it is over, false if it has come to a fault or is not known here: registers say how far
// it is. REQUIRES: signals that come now are only noted.
bool finish_repeated(ucontext_t& context, uint64_t to_above, uint64_t from_above);

}  // namespace weir::trap
