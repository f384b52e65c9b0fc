// The registers that no general instruction touches: x87, vectors, masks.
#pragma once

#include <stdint.h>
#include <ucontext.h>

namespace weir::trap {

// A hash of them as a signal found them. Two equal states have equal hashes, unless the processor has meanwhile noticed
// that a register is back in its initial state.
uint64_t hash_vectors(const ucontext_t& context);

}  // namespace weir::trap
