// The probe asks a task that others wait for what it does (signal/spin_probe.cc).
// Implemented in preempted.cc and spin_probe.cc.
#pragma once

#include <signal.h>
#include <stdint.h>
#include <ucontext.h>

#include "base/frame.h"
#include "control/signals.h"
#include "control/task.h"

namespace weir::trap {

// At the end of an event in a recorded or replayed run: if the program ends, it asks this task to
// come in here. A task that makes system calls without an event in a loop is never found in program
// code.
void stand_aside_if_asked(Task& task);
// Says, once, where in the program's files a task stands that others have waited for for long.
void tell_place(Task& task, const ucontext_t& context);

// Site number of an involuntary event of a task in the in-place process, which goes on in its own
// process.
inline constexpr uint64_t kLeaveInPlaceProcess = 0xfffffffd;

// Site numbers in code that the program has made: cpuid that faults, and a site whose byte is
// changed (code/find/made_code.h).
inline constexpr uint64_t kMadeCpuid = 0xfffffffc, kMadeSite = 0xfffffffb;
// Leads the task into the runtime there.
void enter_at_made_code(Task& task, ucontext_t& context, uint64_t site);

// SIGTRAP: a patched one-byte site, or a single step of a probe. Returns false if it is the
// program's own.
bool on_trap(Task& task, const siginfo_t* info, ucontext_t& context);
// From program code in the in-place process: it goes on where it stands, in its own process.
void interrupt_for_own(Task& task, ucontext_t& context);
// A signal has come before the instruction at rip was complete: copies that it has had made but has
// not written yet are dropped, since an event may follow before it goes on. View isolated.
void forget_started(const ucontext_t& context);
// View isolated: a loop of a few common instructions that only reads is proved without a single
// step, also if it counts. The task is put into the loop's place to wait, by way of which it would
// have come anyhow, and enters the runtime. False: it is no such loop, or not known to be one;
// rounds that can be foreseen have been passed over.
bool wait_in_loop(Task& task, ucontext_t& context);
// The event of a preempted or spinning task.
void on_preempted(Frame& frame);
// Whether a waiting spinner's loop would see something new. Called by the Order at the end of a
// serial phase.
bool spin_sees_change(const Task& task);

}  // namespace weir::trap
