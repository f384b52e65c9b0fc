// The registers that no general instruction touches: x87, vectors, masks.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

namespace weir::trap {

// A hash of them as a signal found them. Two equal states have equal hashes, unless the processor
// has meanwhile noticed that a register is back in its initial state.
uint64_t hash_vectors(const ucontext_t& context);
// As they are now, of the runtime's caller: the runtime itself uses none. Equal states have equal
// hashes.
uint64_t hash_vectors_now();

// The first 16 bytes of the first 16 vector registers, which all programs compute with: as a signal
// found them, and as they are now.
struct LowVectors {
  alignas(16) uint64_t word[16][2];
};
LowVectors low_vectors(const ucontext_t& context);
LowVectors low_vectors_now();

// The first `size` bytes (16, 32 or 64) of the vector register of that number, as it is now. False:
// this processor, or the system, has no such register.
[[nodiscard]] bool vector_now(size_t number, uint8_t* to, uint64_t size);

}  // namespace weir::trap
