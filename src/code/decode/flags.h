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

// Of the instruction at `code`, which read_shape() has read. What is not an instruction reads all.
FlagEffect flag_effect(const Shape& shape, const uint8_t* code);

// The same by the decoder alone, for tests.
FlagEffect decoded_flag_effect(const Shape& shape, const uint8_t* code);

}  // namespace weir
