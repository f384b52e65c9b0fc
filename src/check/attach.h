// A program that is checked for races: its end of what it tells the command
// (check/findings/findings.h).
#pragma once

namespace weir::checking {

// Called at the start, if the run's View is checked, or if it is a replay that is checked.
void attach();
bool is_replayed();  // the latter
// The program's own code begins.
void begin_program();

// Around a system call of the program's: by what others may hear of it.
void before_call(long number, long first, long second);
void after_call(long number, long first, long second, long result);

}  // namespace weir::checking
