// Signals on their way that are not in the kernel's hands: lists of nodes from one pool in memory
// that all tasks see. Guarded by: SignalState::lock, which these take. Not for handlers that may
// interrupt its holder.
#pragma once

#include <stdint.h>

#include "control/control.h"

namespace weir::trap {

// False: as many wait as the limit of queued signals (RLIMIT_SIGPENDING, for sigqueue and its kin)
// or the pool allows.
bool put_signal(SignalList& list, int signal, const void* info);
// The oldest signal; false: there is none.
bool take_signal(SignalList& list, PendingSignal& out);
// A signal to the program as a whole that no task takes now is kept. False: as above.
bool keep_program_signal(int signal, const void* info);
// The oldest of the lowest number of these that are in `set`. 0: none; else its number, and its
// siginfo in `info` (128 bytes).
int take_program_signal(uint64_t set, void* info);
// A forked child inherits no signal.
void forget_signals();

}  // namespace weir::trap
