// A replay that is checked (check/replay/replay.h) comes to a page that its process has closed.
#pragma once

#include <signal.h>
#include <ucontext.h>

#include "control/task.h"

namespace weir::trap {

// A fault on such a page, or the end of a single step that was made for one. False: the signal is
// none of these.
bool on_replayed_signal(Task& task, int signal, const siginfo_t& info, ucontext_t& context);
void note_probe();  // the probe's signal has found the task in the runtime

}  // namespace weir::trap
