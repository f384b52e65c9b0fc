// What folders below signal/ ask of signals; the rest is in signal/.
// Implemented in signal/.
#pragma once

#include <signal.h>
#include <stdint.h>
#include <ucontext.h>

#include "control/task.h"

namespace weir::trap {

// --- what a signal has met

// The interrupted code is the runtime's, or on the way in or out.
bool in_runtime(const Task& task, const ucontext_t& context);
// True if the context was in the runtime, not in the program.
bool is_in_runtime(const Task& task, const ucontext_t& context);
// True if the interrupted code's stack is the task's stack in the runtime.
bool on_runtime_stack(const Task& task, uint64_t rsp);
// In a handler of Weir's. A task that left it for the runtime's own stack would find it overwritten
// by the next signal.
bool on_signal_stack(const Task& task, const ucontext_t& context);
// True if a handler of the program runs, which ends by a system call that belongs to the task's own
// process. May be true of a handler that was left by a jump.
bool is_in_handler(Task& task, uint64_t rsp);
// Returns the lowest signal frame above `rsp`, of a handler that runs or has run there; ~0 if none
// is known.
uint64_t frame_above(const Task& task, uint64_t rsp);

// View coherent: a fault on a page that the task has not. Returns false if it is none of the
// View's; else the access can be made again.
bool meet_page(Task& task, uint64_t address, ucontext_t& context);

// --- signals of the program

// si_errno of a real-time signal that is raised again after it was noted (signal/deliver.h).
inline constexpr int kRaisedAgain = 0x57454952;  // and above it: plus what si_errno was (SIGSYS)
inline constexpr int kMarkedErrors = 1 << 16;    // the kernel's and a filter's are smaller

inline void mark_raised_again(siginfo_t& info) {
  const bool keeps = info.si_errno > 0 && info.si_errno < kMarkedErrors;
  info.si_errno = kRaisedAgain + (keeps ? info.si_errno : 0);
}
inline bool is_raised_again(const siginfo_t& info) {
  return info.si_errno >= kRaisedAgain && info.si_errno - kRaisedAgain < kMarkedErrors;
}
inline bool unmark_raised_again(siginfo_t& info) {
  if (!is_raised_again(info)) return false;
  info.si_errno -= kRaisedAgain;
  return true;
}
// Notes a signal that the task must handle when it leaves the runtime. Others may come meanwhile.
void note_pending(Task& task, int signal, const siginfo_t* info);
// Raises a real-time signal that was noted, while it is blocked; without its information if
// `can_be_bare` and the kernel's queue has no room (RLIMIT_SIGPENDING). Returns false if it has
// not.
bool raise_queued(Task& task, PendingSignal& noted, bool can_be_bare);
// Makes pending those real-time signals that the kernel still holds, if their number is pending
// already and not in `blocked`. REQUIRES: no other signal can come that would be noted.
void take_queued(Task& task, uint64_t blocked);
// Recording. Likewise, and after a wait with a mask of its own, all that the wait let through.
void take_all_queued(Task& task, uint64_t blocked);
// A handler's return sets the mask that its frame has, which the handler may have changed. Where
// one has returned, the task's mask is again what the kernel has. Returns true then. Does
// nothing in a handler of the runtime's.
bool mask_after_handlers(Task& task);
// Signals to the whole program that waited for a task with this open set come to this one.
void raise_program_signals(uint64_t open_set);
// Signals that other tasks sent become pending. Called when the task leaves an event.
void take_inbox(Task& task);
// Makes a blocking system call that a signal ends. Returns -EINTR without entering the kernel if a
// signal is pending already.
long interruptible(long number, long a, long b, long c, long d, long e, long f);

// --- a task that is stopped where it stands (signal/spin_probe.h)

// Site number of an involuntary event: the task was stopped by a signal and enters the runtime
// where it stood.
inline constexpr uint64_t kPreempted = 0xfffffffe;
// Leads the task into the runtime from the place where a signal met it; it comes back to it.
// on_preempted() is its event.
void enter_where_it_stands(Task& task, ucontext_t& context);
// The probe signal reached a task in program code.
void on_probe(Task& task, ucontext_t& context);
// An event comes in the middle of a probe: it is over.
void end_stepping(Task& task, ucontext_t& context);
// An instruction was executed for the task that a probe steps: as if it had been stepped.
void on_stepped(Task& task, ucontext_t& context);

}  // namespace weir::trap
