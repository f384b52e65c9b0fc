// Timers of the program's that are the monitor's (syscall/timer.cc): of each at most one signal
// waits, and what goes off meanwhile are overruns of that one, as in the kernel.
//
// The kernel counts as overruns only what goes off before the monitor has the signal. What goes off
// until a task has it is counted here, by the monitor, and added to what that task sees.
//
// Shared: SignalState::timers. Who has an entry is said by its `used`, which changes by
// compare-and-exchange; the rest is words that monitor and tasks change one by one.
#pragma once

#include <signal.h>
#include <stdint.h>

#include "control/control.h"

namespace weir::trap {

// A timer that tells one task only, by its virtual id. Returns false if there are too many.
bool add_timer(int id, int target);
void forget_timer(int id);
void forget_timers();
// The virtual id of the one task that the timer tells; 0: it tells the program.
int timer_target(const siginfo_t& info);

// The monitor has got a signal of a timer, which is pending there no more. Returns true if an
// earlier one of this timer still waits: then it is an overrun of that one.
bool is_overrun(const siginfo_t& info);
// It has passed it on to that process; 0: it is kept for the program (signal/queue.h).
void note_passed_on(const siginfo_t& info, int process);
// A task has got a signal: if it is of such a timer, its overruns are complete now.
void take_overruns(siginfo_t& info);
// What timer_getoverrun() returns; `otherwise` if no task has had a signal of the timer.
long overruns_of(int id, long otherwise);

}  // namespace weir::trap
