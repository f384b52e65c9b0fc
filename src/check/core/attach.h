// A program that is checked for races: its end of what it tells the command
// (check/findings/findings.h).
// Implemented in check/attach.cc and check/names.cc.
#pragma once

namespace weir::checking {

// Called at the start: maps the memory for what is found, if the run's View is checked.
void attach();
// The memory for what is found is mapped: it is the other end's, of this version, and used.
void refuse_other_version();
void use_findings(bool is_replayed);
bool is_replayed();  // a replay that is checked (check/replay/attach.h)
// The program's own code begins.
void begin_program();

}  // namespace weir::checking
