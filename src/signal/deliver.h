// Real-time signals of one number keep their order though some were noted and are raised again.
#pragma once

#include <signal.h>

#include "control/signals.h"
#include "control/task.h"
#include "sys/signal.h"

namespace weir::trap {

// Of a signal for which its queue has no room (RLIMIT_SIGPENDING) the kernel keeps the number only.
inline bool has_lost_information(const siginfo_t& info) {
  return info.si_code == SI_USER && info.si_pid == 0;
}

// A signal has come, in the runtime or not. Another that was noted or raised before it may have to
// come first: then returns true, and this one comes once more. `info` may be another's afterwards.
bool waits_behind(Task& task, int signal, siginfo_t* info, bool is_in_runtime);

}  // namespace weir::trap
