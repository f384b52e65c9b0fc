// Signals of a program that is checked by protection keys (check/core/rights.h).
#pragma once

#include <signal.h>
#include <ucontext.h>

#include "control/task.h"

namespace weir::trap {

bool has_keys();  // the keys are Weir's: handlers of the program's return by weir_key_sigreturn
// A handler of Weir's begins on the signal's stack; the kernel has closed all keys but one. Returns
// true if the signal was about keys. SIGSEGV by a page's key or protection: an object with a
// declared policy, or memory beside one. SIGTRAP: the end of the step that such a fault has led to.
// The probe's signal: the hash function is being changed.
bool on_key_signal(Task& task, int signal, const siginfo_t& info, ucontext_t& context);

}  // namespace weir::trap
