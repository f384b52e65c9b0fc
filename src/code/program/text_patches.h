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
// What is patched besides once tasks exist.
PatchKinds later_patch_kinds();
// Segments that were mapped since.
void patch_new_text();
// Notes that other code lies in `text` from now on, without patches.
void forget_text(Range text);
// Whether something of the range has patches in this process.
bool has_patches(Range range);
// The program changes the mappings there: what was patched in it may be so no more.
void doubt_patches(Range range);
// forget_text(), and notes that this task maps a library there. It is patched when all of it is
// mapped (patch_pending_text()), because the tables that say what is code lie behind the text.
void note_library(Range text);

// libc's own executable segment; whether an address lies in it, or in that of libc's threads.
Range libc_text();
bool is_libc_text(uint64_t address);

}  // namespace weir::runtime
