// Signals: what the program asked for, what the kernel is told, and how the two meet.
// Implemented in handlers.cc, send.cc and signals.cc.
//
// The runtime keeps the program's dispositions, masks and alternate stacks. The kernel has Weir's
// own handler for each signal that the program handles, on a stack of the runtime's. A signal that
// arrives while the task is in the runtime waits until the task leaves. One that arrives in program
// code goes to the program's handler at once, on the program's stack.
#pragma once

#include <signal.h>
#include <stdint.h>
#include <ucontext.h>

#include "base/frame.h"
#include "control/signals.h"
#include "control/task.h"
#include "sys/signal.h"

namespace weir::trap {

// At the start, before the program's first instruction: from here on the kernel knows only Weir's
// handler and stack.
void take_over();
void set_signal_stack(uint32_t process);
void leave_signal_stack();  // none from here on
// Around the making of a process or thread. It begins on its maker's signal stack and as its
// maker's task, so no signal that Weir has a handler for may come before it has its own
// (signals.cc, invariant 6). The maker gets its mask back at the end; what was made sets its own.
class Birth {
 public:
  Birth();
  ~Birth();
  Birth(const Birth&) = delete;
  Birth& operator=(const Birth&) = delete;
  // weir_clone (code/patch/entry.h). Returns in the maker only.
  long make(uint64_t flags, uint64_t stack, void (*entry)(uint64_t), uint64_t argument,
            uint64_t tls = 0, int* parent_tid = nullptr) const;
  uint64_t mask() const { return mask_; }  // what was blocked before

 private:
  uint64_t mask_ = 0;
};
// Kernel mask of this task: `mask` less what Weir never blocks.
void set_mask(uint64_t mask);
void block_all();
void block_faults();  // these, too, from who has no signal stack any more
void open_mask();     // nothing blocked

// The program's calls. Return values are the kernel's.
long sigaction(int signal, const sys::KernelSigaction* action, sys::KernelSigaction* old);
long sigaltstack(const uint64_t* stack, uint64_t* old);
// Repeats in this process what another process installed.
void install(int signal);

// True if the call must be restarted after -EINTR of interruptible(): every pending signal's
// handler was installed with SA_RESTART.
bool restarts();

// A task sends another task a signal. Returns 1 if the target will handle it when it goes on, at a
// point that does not depend on time. Returns 0 if the kernel must send it. Returns -EAGAIN if no
// more real-time signals may wait: one that the kernel sent would come before those. REQUIRES: the
// turn, so that the target stands at an event or sleeps.
long send(Task& target, int signal, const void* info);
// A task sends the program as a whole a signal that the program handles. Returns 1 if that is done,
// 0 if the kernel must do it, or -errno. REQUIRES: the turn; View isolated.
long send_to_program(int signal, const void* info);
// Without a handler a signal that no task blocks has the kernel's default, or is ignored. One that
// all block waits for a signalfd, for sigwait, or for who opens its mask, also if it is ignored: it
// may have a handler by then. For the monitor.
bool is_kept_unhandled(int signal);
// Whether the signal's default stops a program, and this one has no handler for it.
bool stops_program(int signal);

// A signal that waits for the program waits in one process, and a signalfd shows its reader what
// waits in the reader's own. So this task, which is about to read or poll the descriptor, is where
// they wait from now on, and those that no task has yet come to it. `is_epoll`: what the descriptor
// watches is not known. Returns whether it may be one; that is logged in a recording.
bool come_to_signalfd(long descriptor, bool is_epoll);
// Where they wait; null: nowhere yet.
Task* signalfd_reader();
// A handler of the program's begins, with its signal frame on the program's stack.
void note_handler(Task& task, uint64_t frame, int signal);

}  // namespace weir::trap
