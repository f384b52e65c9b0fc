// An instruction that the runtime executes for the program, on memory that the program may not
// write to. The runtime sees all memory, and a fault in it would be Weir's own. So the program goes
// on at an access to the same address, and the fault comes as from the instruction.
// Implemented in refused_access.cc and refused_access_x86_64.S.
#pragma once

#include <signal.h>
#include <stdint.h>
#include <ucontext.h>

#include "base/frame.h"
#include "control/task.h"

namespace weir::trap {

// Whether a locked instruction of the program on these bytes faults.
bool is_refused(uint64_t address, uint64_t size);
// The task goes on at such an access; afterwards where its instruction is made again.
void access_refused(Task& task, Frame& frame, uint64_t address, uint64_t again);
// A signal has met the task there: from now on it stands before its instruction. Returns true if
// the access was made, and there is nothing to tell the program.
bool meet_refused(Task& task, int signal, ucontext_t& context);

}  // namespace weir::trap
