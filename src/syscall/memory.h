// What calls that change memory have in common.
#pragma once

#include "syscall/syscall.h"

namespace weir::syscalls {

// Store memory becomes zero. Guarded by: the turn, where tasks exist; as is all below.
void empty_pages(uint64_t start, uint64_t size);
// Of store memory, where every page is readable and writable but what is remembered otherwise.
// `was_code`: some of it may be open otherwise than is remembered.
long change_protection(uint64_t start, uint64_t size, int protection, bool was_code = false);
// Whether a file can be mapped privately for writing: what the kernel would say, asked before
// anything changes.
long check_file(const Call& call);
// Fills store memory at `start` from the file; 0 or -errno.
long read_file(uint64_t start, uint64_t size, int descriptor, uint64_t offset);

long on_madvise(const Call& call);

// The program, of one task, maps a file shared at a place in the arena; and does so no longer.
long map_file_in_arena(Call& call, uint64_t start, uint64_t size);
void restore_arena(uint64_t start, uint64_t size);

}  // namespace weir::syscalls
