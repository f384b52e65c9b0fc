// Signals: what the program asked for, what the kernel is told, and how the two meet.
//
// The program's dispositions, masks and alternate stacks are kept here; the kernel has Weir's own
// handler for each signal that the program handles, on a stack of the runtime's. A signal that
// arrives while the task is in the runtime waits until it leaves; one that arrives in program code
// is handed to the program's handler on the program's stack at once.
#pragma once

#include <signal.h>
#include <stdint.h>
#include <ucontext.h>

#include "base/frame.h"
#include "control/task.h"
#include "sys/signal.h"

namespace weir::trap {

// At the start, before the program's first instruction: from here on the kernel knows only Weir's
// handler and stack.
void take_over();
void set_signal_stack(uint32_t process);
// Kernel mask of this task: `mask` less what Weir never blocks.
void set_mask(uint64_t mask);
void block_all();
void open_mask();  // nothing blocked

// Where the interrupted code's stack is the task's in the runtime.
bool on_runtime_stack(const Task& task, uint64_t rsp);
// In a handler of Weir's. A task that left it for the runtime's own stack would find it overwritten
// by the next signal.
bool on_signal_stack(const Task& task, const ucontext_t& context);

// The program's calls. Return values are the kernel's.
long sigaction(int signal, const sys::KernelSigaction* action, sys::KernelSigaction* old);
long sigaltstack(const uint64_t* stack, uint64_t* old);
// Repeats in this process what another process installed.
void install(int signal);
// By the program: neither by default, nor by nothing.
bool handled(int signal);
// Weir's own, too: the kernel never blocks it.
inline bool is_ours(int signal) { return sys::never_blocked() & sys::signal_bit(signal); }

// A blocking system call that a signal ends: -EINTR without entering the kernel where one is
// pending already.
long interruptible(long number, long a, long b, long c, long d, long e, long f);
// After -EINTR: true where every pending signal's handler was installed with SA_RESTART.
bool restarts();

// A task sends another one a signal. REQUIRES: the turn, so that the other stands at an event or
// sleeps. True: it will be handled when the other goes on, at a place that does not depend on time.
// False: the kernel must do it.
bool send(Task& target, int signal, const void* info);
// A task sends the program as a whole a signal that it handles. REQUIRES: the turn; isolated. 1:
// done; 0: the kernel must do it; or -errno.
long send_to_program(int signal, const void* info);
// A handler of the program's begins, with its signal frame on the program's stack.
void note_handler(Task& task, uint64_t frame);
// A handler of the program's runs: it ends by a system call that belongs to the task's own process.
// May say so of one that was left by a jump.
bool is_in_handler(Task& task, uint64_t rsp);
// The lowest signal frame above it, of a handler that runs or has run there; ~0: none is known.
uint64_t frame_above(const Task& task, uint64_t rsp);
// A signal is to be handled when the task leaves the runtime. REQUIRES: no other signal can come
// that would be noted.
void note_pending(Task& task, int signal, const siginfo_t* info);
// Real-time signals of numbers that are pending and not in `blocked`, which the kernel still holds,
// become pending too. REQUIRES: likewise.
void take_queued(Task& task, uint64_t blocked);
// Signals that other tasks sent become pending. Called when the task leaves an event.
void take_inbox(Task& task);

// The interrupted code is the runtime's, or on the way in or out.
bool in_runtime(const Task& task, const ucontext_t& context);

}  // namespace weir::trap
