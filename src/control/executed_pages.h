// Contract: pages of code that the program has made itself, and that this process has opened for
// execution, as far as `memory` closes them.
// Implemented in memory/code/executed.cc and memory/code/mapped_twice.cc.
#pragma once

#include "base/types.h"

namespace weir::page::executed {

// The pages have the program's bytes, and are closed for execution: as far as the program may, it
// can write to them. Signal-safe.
void close(Range range);
// For a child that is forked: no page of the parent's is open in it.
void close_all();
// Program memory that lies there is written in the backing. REQUIRES: the turn.
void note_change(Range range);
// The mappings of files that hold code, and are mapped shared, have the protection that they begin
// with. REQUIRES: the first task is being made, or this is a forked child.
void close_shared();

}  // namespace weir::page::executed
