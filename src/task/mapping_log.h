// Changes of the address space, repeated by every process that runs tasks.
#pragma once

#include "base/types.h"
#include "control/control.h"

namespace weir::runtime {

// Appends a change that this process has made itself. REQUIRES: the turn, or one task only (then
// nothing is recorded).
void record_mapping(const MappingRecord& record);
// Returns when no process has a change left to repeat. REQUIRES: the turn.
void let_all_catch_up();
// Converts private memory of the program outside the arena that is not in the backing yet. It keeps
// its protection, and becomes memory of the backing in this process and the others. REQUIRES: the
// turn.
bool convert_late(Range range);

// Code that was mapped since tasks exist is patched, here and in the other processes. REQUIRES: the
// turn.
void patch_pending_text();

}  // namespace weir::runtime
