// Faults on pages that the task has to be given first.
#pragma once

#include <stdint.h>
#include <ucontext.h>

#include "task/task.h"

namespace weir::trap {

// Store memory to which the task has no right yet, or which is not mapped in this process; or a page that processes share, and which the
// task has not.
bool meet_page(Task& task, uint64_t address, ucontext_t& context, bool is_owned);

}  // namespace weir::trap
