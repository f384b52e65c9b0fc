// A program that is checked for races: its end of what it tells the command (trace/findings.h).
#pragma once

namespace weir::checking {

// At the start, where the run's View is guarded.
void attach();

}  // namespace weir::checking
