// Faults on pages that the task has to be given first.
#pragma once

#include <signal.h>
#include <stdint.h>
#include <ucontext.h>

#include "control/task.h"

namespace weir::trap {

// Store memory to which the task has no right yet, or which is not mapped in this process; or a
// page that processes share, and which the task has not.
bool meet_page(Task& task, uint64_t address, ucontext_t& context, bool is_owned);
// View isolated: memory with code of the program's own making, which is open either for writing or
// for execution, is executed where it was written, or the other way round. Does not return if the
// code cannot be held to the View.
bool meet_made_code(uint64_t address, const ucontext_t& context);
// A page that is closed to the access: the last, or one that processes share.
bool meet_closed(Task& task, uint64_t address, ucontext_t& context);
// The same as meet_page at View guarded (check/check.h), or the end of a single step that it made.
// False: the signal is none of these.
bool meet_guarded_signal(Task& task, int signal, const siginfo_t& info, ucontext_t& context);
// The same in a replay that is checked (check/replay/replay.h).
bool meet_replayed_signal(Task& task, int signal, const siginfo_t& info, ucontext_t& context);
void note_probe();  // the probe's signal has found the task in the runtime
// What the context was doing is the runtime's, not the program's.
bool is_in_runtime(const Task& task, const ucontext_t& context);

// At an event: from the first code of the program's own making on, cpuid faults.
void watch_made_code(Task& task);
// SIGSEGV: false where it is not that.
bool meet_cpuid(Task& task, ucontext_t& context);

}  // namespace weir::trap
