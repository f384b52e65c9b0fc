// Calls that change memory in the range of reserved addresses (memory/reserve.h).
#pragma once

#include "syscall/syscall.h"

namespace weir::syscalls {

// Reserves an anonymous private mapping that is not accessible, at a place of Weir's choosing.
// Returns 0 if there is no room; then it must be mapped as others are.
long reserve(uint64_t size);

// The rest works on ranges that begin there.
// A mapping at a place that the program chose is about to be made; by the kernel, or as below.
void claim_in_reserve(uint64_t start, uint64_t size, bool stays_kernels);
// While tasks exist: private memory that is anonymous, or a copy of a file.
long map_in_reserve(const Call& call, uint64_t start, uint64_t size, int protection);
void unmap_reserved(uint64_t start, uint64_t size);
long protect_reserved(uint64_t start, uint64_t size, int protection);
void empty_reserved(uint64_t start, uint64_t size);
// Makes all private memory in the range memory of the backing. REQUIRES: tasks exist.
bool open_reserved(uint64_t start, uint64_t size);
// Some of it is memory of the backing.
bool is_reserved_backed(uint64_t start, uint64_t size);

}  // namespace weir::syscalls
