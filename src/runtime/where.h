// Where a task stands in the program, for the command to tell by symbol and line (cli/where.h).
#pragma once

#include "task/task.h"

namespace weir::recording {

// Leaves in the trace's header where the task was called from. At most one task of the program does, the first.
void note_place(const Task& task);

}  // namespace weir::recording
