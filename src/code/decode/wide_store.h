// Plain moves of a vector register into memory: which register, how many bytes, and in which parts
// others may see them. No processor promises that more than 16 aligned bytes are written at once.
// Implemented in wide_store.cc.
#pragma once

#include <stdint.h>

#include "code/decode/shape.h"

namespace weir {

struct WideStore {
  uint8_t size = 0;         // 16, 32 or 64 bytes; 0: it is none
  uint8_t source = 0;       // number of the vector register
  bool is_aligned = false;  // it faults if the address is not a multiple of the size

  // In how many parts it may be seen, and where the part of this number begins (that of number
  // parts() is the end).
  unsigned parts() const { return size == 0 ? 0 : size == 16 && is_aligned ? 1 : 2; }
  unsigned part(unsigned number) const { return size * number / (parts() ? parts() : 1); }
};

// `code`: the instruction's bytes. Masked moves, and those of a part of a register, are none.
[[nodiscard]] WideStore wide_store(const Shape& shape, const uint8_t* code);

}  // namespace weir
