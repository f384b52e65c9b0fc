// Signals of a program that is recorded or replayed. They are handed over at the end of an event, never between events: that place a
// replay finds again. Replaying, what comes from the kernel is dropped, but what the runtime raised itself.
#pragma once

#include <signal.h>

#include "task/task.h"

namespace weir::trap {

// A signal that the program handles has come. True: it is to be noted or dropped, not handed over now.
bool waits_for_event(siginfo_t* info);
// Replaying, at the end of an event: what the recording hands over here becomes pending.
void take_recorded_signals(Task& task);
// Pending signals are about to be raised; from here on no more come. Recording, they are kept. On the runtime's stack: what is left
// below the program's would differ in a replay.
void settle_pending(Task& task);

}  // namespace weir::trap
