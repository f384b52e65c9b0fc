// Faults on pages that the task has to be given first.
// Implemented in made_code.cc and page_fault.cc.
#pragma once

#include <signal.h>
#include <stdint.h>
#include <ucontext.h>

#include "control/task.h"

namespace weir::trap {

// The task has touched memory of the backing to which it has no right yet, or which this process
// has not mapped; or a page that processes share, and that this process does not have.
bool meet_page(Task& task, uint64_t address, ucontext_t& context, bool is_shared_memory);
// View isolated: memory with code of the program's own making is open either for writing or for
// execution. It has been executed while open for writing, or written while open for execution. Does
// not return if the code cannot be held to the View.
bool meet_made_code(uint64_t address, const ucontext_t& context);
// The task has touched a page that is closed to the access: code of its own making, or memory that
// processes share.
bool meet_closed(Task& task, uint64_t address, ucontext_t& context);

// At an event: from the first code of the program's own making on, cpuid faults.
void watch_made_code(Task& task);
// SIGSEGV: false where it is not that.
bool meet_cpuid(Task& task, ucontext_t& context);

}  // namespace weir::trap
