// Entering and leaving the registry of regions. REQUIRES, all: registry's lock.
// Implemented in region.cc.
#pragma once

#include "region/state.h"

namespace weir::region {

// In the directory, open in every set. NULL: no memory.
Region* make_region(uint64_t start, uint64_t size, weir_region_handler_fn handler);
// REQUIRES: no pointer refers to it.
void drop_region(Region* region);
// Frees those regions of State::dying to which no pointer refers. REQUIRES: no lock is held.
void free_dying();

}  // namespace weir::region
