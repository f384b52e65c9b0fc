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
// A segment that was mapped since.
void patch_new_text(Range text);

// libc's own executable segment.
Range libc_text();

}  // namespace weir::runtime
