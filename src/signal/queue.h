// Signals on their way that are not in the kernel's hands: lists of nodes from one pool in memory
// that all tasks see. Guarded by: SignalState::lock, which these take. Not for handlers that may
// interrupt its holder.
#pragma once

#include <stdint.h>

#include "control/control.h"

namespace weir::trap {

// Returns false if no more signals may wait: by the limit of queued signals (RLIMIT_SIGPENDING, for
// sigqueue and its kin), or because the pool is empty.
bool put_signal(SignalList& list, int signal, const void* info);
// Takes the oldest signal off the list. Returns false if there is none.
bool take_signal(SignalList& list, PendingSignal& out);
// Keeps a signal to the program as a whole that no task takes now. Returns false as put_signal()
// does.
bool keep_program_signal(int signal, const void* info);
// Takes the oldest signal of the lowest number in `set`. Returns that number, and the siginfo in
// `info` (128 bytes); 0 if there is none.
int take_program_signal(uint64_t set, void* info);
// A forked child inherits no signal.
void forget_signals();

}  // namespace weir::trap
