// System calls that only the monitor can make, because the kernel keeps their subject for one
// process: the program's timers began in it, and stay in it whoever works on them.
#pragma once

namespace weir::tasks {

// The monitor makes the call; pointers among the arguments lead into memory that all tasks see
// (MonitorCall has room). Answers as the kernel does. REQUIRES: the turn; View isolated.
long send_errand(long number, long a, long b = 0, long c = 0, long d = 0);
// In the monitor, when it is signalled: makes the call that was asked for, if one was. Signal-safe.
bool do_errand();

}  // namespace weir::tasks
