// A signal arrives: what it is, and where it goes.
#pragma once

#include <signal.h>
#include <stdint.h>

#include "control/control.h"
#include "record/signals.h"
#include "signal/deliver.h"
#include "sys/signal.h"
#include "sys/syscall_x86_64.h"

namespace weir::trap {

// The kernel's handler of every signal that the program handles, and of those that are Weir's own
// (signals.cc, invariants). On the runtime's signal stack.
void on_signal(int signal, siginfo_t* info, void* context);

// The siginfo of a signal that has arrived becomes what the program is to see of its sender.
void fix_sender(siginfo_t* info);
// It has been taken from the kernel's queue: if it is a timer's, what has gone off since it was put
// there counts as its overruns.
void take_timer_overruns(siginfo_t* info);

// --- what the program has asked for, and what the kernel knows

inline constexpr uint64_t kDefault = 0, kIgnore = 1;

inline long kernel_sigaction(int signal, const sys::KernelSigaction* action,
                             sys::KernelSigaction* old) {
  return sys::raw(SYS_rt_sigaction, signal, reinterpret_cast<long>(action),
                  reinterpret_cast<long>(old), 8);
}

// The kernel never blocks it: Weir has it, too.
inline bool is_ours(int signal) { return sys::never_blocked() & sys::signal_bit(signal); }

// Made by an instruction of the task's own, and not by a call of somebody's: it comes at that
// instruction or never.
inline bool is_of_instruction(int signal, const siginfo_t& info) {
  return info.si_code > 0 && !is_raised_again(info) &&
         (is_ours(signal) || signal == SIGFPE || signal == SIGILL);
}

// By a function of the program's.
inline bool handled(int signal) {
  uint64_t handler = reinterpret_cast<uint64_t>(shared().signals.actions[signal].handler);
  return handler != kDefault && handler != kIgnore;
}

// The kernel hands it to on_signal though the program does not handle it: a recording keeps what an
// instruction ends the program by.
inline bool is_kept(int signal) {
  return signal_rules().keeps_fault(signal) &&
         reinterpret_cast<uint64_t>(shared().signals.actions[signal].handler) == kDefault;
}
inline bool reaches_runtime(int signal) {
  return is_ours(signal) || handled(signal) || is_kept(signal);
}

}  // namespace weir::trap
