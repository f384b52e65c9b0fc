// A checked program comes to a page that it has not (check/core/check.h).
#pragma once

#include <signal.h>
#include <ucontext.h>

#include "control/task.h"

namespace weir::trap {

// The checked View: a fault on a page that the task has to be given first, or the end of a single
// step that was made for one. False: the signal is none of these.
bool on_checked_signal(Task& task, int signal, const siginfo_t& info, ucontext_t& context);

}  // namespace weir::trap
