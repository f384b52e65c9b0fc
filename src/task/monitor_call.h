// System calls that only the monitor can make, because the kernel ties their subject to one
// process: the program's timers began in the monitor, and stay there whichever task works on them.
#pragma once

namespace weir::tasks {

// The monitor makes the call; pointers among the arguments lead into memory that all tasks see
// (MonitorCall has room). Returns as the kernel does. REQUIRES: the turn; View isolated.
long call_in_monitor(long number, long a, long b = 0, long c = 0, long d = 0);
// In the monitor, when it is signalled: makes the call that was asked for, if one was. Signal-safe.
bool make_monitor_call();
// In the monitor: the number of the call that is asked for; -1: none is.
long asked_of_monitor();

}  // namespace weir::tasks
