// Space in the file for regions and for pages that become shared: free lists of blocks by class,
// four classes to each doubling, so at most a quarter is lost.
#pragma once

#include <stdint.h>

#include "base/types.h"

namespace weir::region {

// Whether a region may have that size. 0; EINVAL: none, or more than a window; ENOMEM: more than
// half of one.
int check_size(uint64_t size);
// Takes `size` bytes of the file, aligned to `alignment` (a power of two of at most a page):
// zeroed. `block` says what it was, for give_space. 0: the window is full. REQUIRES: registry.
uint64_t take_space(uint64_t size, uint64_t alignment, uint8_t* block);
void give_space(uint64_t offset, uint8_t block);
// Whole pages, for ever, zeroed: for pages of the program that become the file's (define.cc).
uint64_t take_pages(uint64_t pages);
// The next stretch of [start, limit) of the file that the kernel has given memory to; an empty
// range at `limit` if there is none. All other bytes are zeros, and to read them would give them
// memory. If it cannot be known, since the program has closed the file, all of them count.
// Signal-safe.
Range next_populated(uint64_t start, uint64_t limit);

}  // namespace weir::region
