// What `--stat`, `--stat-json` and `--fingerprint` tell when the program ends.
// Implemented in counts.cc and exit_report.cc.
#pragma once

#include "control/task.h"

namespace weir::runtime {

// Here the program begins for what is told at its end: when the library was initialized, or in a
// forked child.
void start_counts();
// The first task is about to make the second.
void note_first_thread();
// Nanoseconds of processor time that the task has had. REQUIRES: it has not ended.
uint64_t processor_time(const Task& task);
// Called once in a program: a task that comes later never returns.
void prints_at_exit(int code);

}  // namespace weir::runtime
