// Faults on pages that the task has to be given first.
#pragma once

#include <stdint.h>
#include <ucontext.h>

#include "task/task.h"

namespace weir::trap {

// Store memory to which the task has no right yet, or which is not mapped in this process; or a page that processes share, and which the
// task has not.
bool meet_page(Task& task, uint64_t address, ucontext_t& context, bool is_owned);
// The same at View guarded (view/guarded.h); and the end of a single step that it made.
bool meet_guarded(Task& task, uint64_t address, ucontext_t& context);
bool end_guarded_step(Task& task, ucontext_t& context);

}  // namespace weir::trap
