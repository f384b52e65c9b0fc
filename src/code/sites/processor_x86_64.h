// What a program asks of the processor itself, executed for it at its site: cpuid, random numbers.
#pragma once

#include <stdint.h>

#include "base/frame.h"
#include "code/decode/shape.h"

namespace weir {

// eax and ecx in; eax, ebx, ecx and edx out, their upper halves 0. Flags stay.
void execute_cpuid(Frame& frame);
// Which processor answered cpuid with `leaf` (eax before) is no longer told: its numbers are 0.
void hide_processor(uint32_t leaf, Frame& frame);

// rdrand or rdseed. Layout: part of Site and of a kept plan.
struct RandomOp {
  uint8_t target = 0;    // the register, as instructions encode it
  uint8_t size : 4 = 0;  // bytes of it that are asked for: 2, 4 or 8
  uint8_t is_seed : 4 = 0;
};
static_assert(sizeof(RandomOp) == 2);

// Returns false if it is neither rdrand nor rdseed.
[[nodiscard]] bool decode_random(const Shape& shape, RandomOp& op);

// Returns false if this processor does not know the instruction; the program's signal for that must
// come at its own place.
[[nodiscard]] bool is_known(const RandomOp& op);

// Leaves in `frame` what the instruction itself would have: the register (of 16 bits the rest
// stays, of 32 it becomes 0) and all status flags, carry where there was a number. REQUIRES:
// is_known(op).
void execute_random(const RandomOp& op, Frame& frame);

// execute_random() with that number.
void give_random(const RandomOp& op, Frame& frame, uint64_t number);

}  // namespace weir
