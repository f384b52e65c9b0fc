// The library's own dynamic memory, apart from libc's. A fault may hit while the interrupted code
// is in malloc: a handler of a signal has interrupted it there, and accesses shared memory. The
// library, which allocates at a fault, would then wait for a lock that its own thread holds.
#pragma once

#include <stddef.h>

namespace weir::dsm {

// NULL: there is none. Aligned to 16 bytes; from 64 bytes on, and for multiples of 64, to 64.
// Signal-safe, except in a handler that has interrupted one of these two.
void* own_allocate(size_t size);
// REQUIRES: is_own(memory).
void own_free(void* memory);
// Whether own_allocate has returned it; what libstdc++ has allocated is libc's.
bool is_own(const void* memory);

// libc's memory (text_memory.h).
char* memory_for_text(size_t size);

}  // namespace weir::dsm
