// Where a task stands in the program. The command turns it into symbols and lines
// (cli/recorder/where.h).
#pragma once

#include "control/task.h"

namespace weir::recording {

// Leaves in the channel's header where the task was called from. The first task does, until the
// command has taken it.
void note_place(const Task& task);

}  // namespace weir::recording
