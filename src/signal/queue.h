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
// What was sent to the program as a whole goes to the process of a task, and not to the task: the
// kernel has a queue for each, and takes those to the task first, as it does natively.
//
// Takes one as take_program_signal() does, for who hands it on to a task. Until end_raising() no
// other does that with this number, and one that comes is kept behind it. So signals of one number
// come in the order in which they were sent. 0 if another hands on what there is.
int begin_raising(uint64_t set, void* info);
void end_raising(int signal);
// Keeps what begin_raising() has given in front of the others, as nobody could take it.
void keep_again(int signal, const void* info);
// Hands what begin_raising() has given to a task's process, and ends that. Returns false if the
// kernel's queue has no room: it is kept again.
bool hand_on(int tid, int signal, const void* info);
// Keeps a signal behind those of its number that are handed on at the moment or, if `waits`, that
// wait. Returns false if there are none.
bool keep_behind(int signal, const void* info, bool waits);
// Those that wait for the program go when the program ignores their number.
void drop_program_signals(int signal);
// A forked child inherits no signal.
void forget_signals();

}  // namespace weir::trap
