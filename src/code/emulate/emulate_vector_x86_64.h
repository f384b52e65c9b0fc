// Executing one vector instruction of the program's for it, whose memory its process has not
// mapped.
#pragma once

#include <stdint.h>
#include <ucontext.h>

#include "code/decode/shape.h"

namespace weir::trap {

// Executes the instruction at `code`, which has one operand in memory, of `size` bytes, which are
// at `memory` as well. Vector registers, flags and memory are then what the processor would have
// left; rip is not moved. Returns false, having done nothing, if the instruction is not one of
// those known here.
bool emulate_vector(ucontext_t& context, const Shape& shape, const uint8_t* code, uint8_t* memory,
                    uint64_t size);

}  // namespace weir::trap
