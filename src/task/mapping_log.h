// Changes of the address space, repeated by every process that runs tasks.
#pragma once

#include "base/types.h"
#include "control/control.h"

namespace weir::runtime {

// Appends a change that this process has made itself. REQUIRES: the turn, or one task only (then
// nothing is recorded).
void record_mapping(const MappingRecord& record);
// Another process has made changes that this one has not repeated yet.
bool lacks_mappings();
// Returns when no process has a change left to repeat. REQUIRES: the turn.
void let_all_catch_up();
// What is private memory of the program's in a range outside the arena, and not the store's yet, is
// turned into store memory, here and elsewhere, with the protection that it has. REQUIRES: the
// turn.
bool convert_late(Range range);

// Code that was mapped since tasks exist is patched, here and in the other processes. REQUIRES: the
// turn.
void patch_pending_text();

}  // namespace weir::runtime
