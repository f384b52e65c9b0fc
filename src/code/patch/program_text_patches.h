// The executable segments of this process.
#pragma once

#include <stdint.h>

#include "base/types.h"
#include "code/patch/patch.h"

namespace weir::runtime {

// Patches every executable segment that is mapped from a file, except Weir's own; of a program that
// is recorded, the vDSO's functions too.
void patch_all(PatchKinds kinds);
// What is patched before there are tasks.
PatchKinds first_patch_kinds();
// Segments that were mapped since.
void patch_new_text();
// Other code lies there from now on, and no patch.
void forget_text(Range text);
// The same, where this task maps a library. It is patched when all of it is mapped
// (patch_pending_text()): the tables that say what is code lie behind it.
void note_library(Range text);

// libc's own executable segment.
Range libc_text();

}  // namespace weir::runtime
