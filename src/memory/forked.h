// Memory that the program wants a forked child to get zero, or not at all (MADV_WIPEONFORK,
// MADV_DONTFORK). The kernel does it for memory of its own; for memory of the backing use_copy()
// does.
#pragma once

#include <stdint.h>

namespace weir::page {

enum class Forked : int { kCopied = 0, kZero = 1, kMissing = 2 };

// Returns false if there is no room for another range. Guarded by: the turn, if tasks exist.
bool remember_forked(uint64_t start, uint64_t size, Forked how);
// In the child, once it has a backing of its own.
void apply_forked();

}  // namespace weir::page
