// Instructions that access memory at as many places as a vector register says: gathers and
// scatters.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace weir {

struct Gather {
  uint8_t base = 0xff;     // general register, or kNoRegister
  uint8_t vector = 0;      // number of the vector register that has the indices
  uint8_t index_size = 0;  // bytes: 4 or 8
  uint8_t lanes = 0;       // indices in the register: at least as many as are used
  uint8_t scale = 0;
  uint8_t element_size = 0;  // bytes of one access
  bool written = false;      // a scatter
  int64_t displacement = 0;
};

// Decodes the instruction at `code`, of which `available` bytes may be read. Returns false if it is
// no gather or scatter.
[[nodiscard]] bool decode_gather(const void* code, size_t available, Gather& gather);

}  // namespace weir
