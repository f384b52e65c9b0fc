// Which status flags an instruction reads and writes.
#pragma once

#include <stdint.h>

#include "code/decode/shape.h"

namespace weir {

inline constexpr uint16_t kEveryFlag = 0x8d5;  // carry, parity, adjust, zero, sign, overflow

// Bits of rflags, of kStatusFlags only.
struct FlagEffect {
  uint16_t read = 0;
  uint16_t written = 0;  // whatever its operands are; also those that the manuals leave undefined
};

// Returns the flag effect of the instruction at `code`, which read_shape() has read. What is not an
// instruction counts as reading all flags.
FlagEffect flag_effect(const Shape& shape, const uint8_t* code);

// Whether all status flags are written anew before one is read, from the instruction at `offset` of
// `text` on. A call or return ends them: no function of a compiler's takes or returns any. False
// also where that does not show within a few instructions, at a branch that is no plain jump, and
// at what is no instruction.
bool leaves_flags_unread(const uint8_t* text, size_t size, size_t offset);

// Whether the condition of that code holds: the low four bits of jcc, setcc and cmovcc. `flags`:
// rflags.
bool condition_holds(unsigned code, uint64_t flags);

// Returns the flag effect as the decoder alone finds it, for tests.
FlagEffect decoded_flag_effect(const Shape& shape, const uint8_t* code);

}  // namespace weir
