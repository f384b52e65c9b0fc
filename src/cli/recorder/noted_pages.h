// The runs of a checked replay before the one that checks.
#pragma once

#include "cli/races/findings_memory.h"
#include "recording/directory.h"

namespace weir::cli {

// Replays the recording twice, quietly. Afterwards `found` is ready for the run that checks, and
// knows which pages that looks at (check/replay/replay.h). Returns the signal that interrupted
// this; 0: none. Throws Failure.
int note_pages(const recording::Recording& recording, const FindingsMemory& found);

}  // namespace weir::cli
