// Invariants
// 1. The kernel's handler for every signal that the program handles is on_signal, on the runtime's
//    signal stack, so no signal frame is ever written to program memory by the kernel behind the
//    View's back. (checked in on_signal)
// 2. While the task is in the runtime (flag, rip or rsp say so) on_signal only notes the signal.
//    The exit path of the runtime looks at `pending` and raises the signals again in program state;
//    see entry_x86_64.S for the last window. (checked in enter_handler)
// 3. In program state on_signal copies the kernel's frame to the program's stack and enters the
//    program's handler there; the handler returns by the kernel's own sigreturn from the copy (with
//    protection keys: key_fault.cc sees it before; where pages may be away: from one more copy,
//    weir_copy_for_sigreturn). (not checkable: the kernel returns to what the frame says)
// 4. SIGSEGV, SIGBUS, SIGTRAP and the probe signal are never blocked in the kernel. All others are
//    blocked from the entry of on_signal until the program's handler begins (weir_run_handler), so
//    a signal is noted by one handler at a time. (not checkable: the mask is the kernel's, and to
//    ask for it costs a call each time)
// 5. While a handler of Weir's is on the signal stack the task is not led away from it: the next
//    signal would begin at its top. (checked in enter_in_place_process)
// 6. No two processes or threads take signals on one signal stack, and none takes any while %gs
//    names another's task. The kernel gives what is made its maker's stack, and the stacks are
//    memory that all share. So it is made with those signals blocked that on_signal gets (Birth),
//    and opens its mask when it has a stack and a task of its own. Only vfork's child keeps the
//    stack of its maker, who sleeps. (checked in on_signal)

#include "signal/signals.h"

#include <errno.h>
#include <signal.h>

#include "base/bytes.h"
#include "check/core/hazards.h"
#include "code/patch/entry.h"
#include "code/sites/site_table.h"
#include "code/translate/counted.h"
#include "control/control.h"
#include "control/process.h"
#include "memory/backing.h"
#include "record/input.h"
#include "record/stop_point.h"
#include "signal/arrive.h"
#include "signal/forward.h"
#include "signal/queue.h"
#include "signal/spin_probe.h"
#include "sync/event.h"
#include "sys/futex.h"
#include "sys/signal.h"
#include "sys/syscall_x86_64.h"

extern "C" {
extern char weir_site_exit[], weir_site_exit_end[], weir_sigreturn[];
extern char weir_restore_begin[], weir_restore_end[];
long weir_interruptible(long number, long a, long b, long c, long d, long e, long f);
}

namespace weir::trap {

using sys::KernelSigaction;
using sys::signal_bit;

namespace {

struct KernelStack {
  uint64_t base;
  int32_t flags;
  int32_t pad;
  uint64_t size;
};

}  // namespace

bool in_runtime(const Task& task, const ucontext_t& context) {
  const auto rip = static_cast<uint64_t>(context.uc_mcontext.gregs[REG_RIP]),
             rsp = static_cast<uint64_t>(context.uc_mcontext.gregs[REG_RSP]);
  if (task.in_runtime || runtime::g_away || translate::is_inside(rip)) return true;
  if (on_runtime_stack(task, rsp)) return true;
  auto within = [&](const char* from, const char* to) {
    return rip >= reinterpret_cast<uint64_t>(from) && rip < reinterpret_cast<uint64_t>(to);
  };
  if (within(weir_site_exit, weir_site_exit_end)) return true;
  if (within(weir_restore_begin, weir_restore_end)) return !input::is_on();
  // Between "save rsp" and "load the runtime stack" the scratch word is already in use.
  StubPlace place;
  if (within(reinterpret_cast<const char*>(&weir_upcall),
             reinterpret_cast<const char*>(&weir_site_entry)) ||
      find_stub_place(rip, place)) {
    static const uint8_t kLoadStack[9] = {0x65, 0x48, 0x8b, 0x24, 0x25, 0x18, 0x00, 0x00, 0x00};
    return __builtin_memcmp(reinterpret_cast<const void*>(rip), kLoadStack, sizeof kLoadStack) == 0;
  }
  return false;
}

bool on_runtime_stack(const Task& task, uint64_t rsp) {
  return rsp > task.stack_top - kStackSize && rsp <= task.stack_top;
}

bool on_signal_stack(const Task& task, const ucontext_t& context) {
  const uint64_t top =
      runtime::g_is_in_place_process ? stack_top_of(runtime::g_process) : task.stack_top;
  return top - kStackSize - static_cast<uint64_t>(context.uc_mcontext.gregs[REG_RSP]) < kStackSize;
}

bool is_in_runtime(const Task& task, const ucontext_t& context) {
  return task.in_runtime || task.identity.in_vfork || on_signal_stack(task, context) ||
         on_runtime_stack(task, static_cast<uint64_t>(context.uc_mcontext.gregs[REG_RSP]));
}

void note_pending(Task& task, int signal, const siginfo_t* info) {
  const sys::NoSignals guard;
  if (!task.signals.pending_signals) {
    task.signals.pending_signals = reinterpret_cast<PendingSignal*>(
        kNoted + task.id * kNotedSize + (task.identity.in_vfork ? kNotedSize / 2 : 0));
  }
  for (uint32_t i = 0; i < task.pending; i++) {
    if (task.signals.pending_signals[i].signal == signal && signal < sys::kFirstRealTime)
      return;  // standard signals do not queue
  }
  if (task.pending + task.recorded.parked >= kNotedCapacity) return;
  PendingSignal& slot = task.signals.pending_signals[task.pending];
  slot.signal = signal;
  copy_bytes(slot.info, info, sizeof slot.info);
  __atomic_store_n(&task.pending, task.pending + 1, __ATOMIC_SEQ_CST);
  // Where it is about to sleep until others wake it, or the kernel goes on with that sleep after
  // the handler (SA_RESTART).
  __atomic_store_n(&task.order.wake_word, 1u, __ATOMIC_SEQ_CST);
}

void set_signal_stack(uint32_t process) {
  KernelStack stack{};
  stack.base = kStacks + 2 * process * kStackSize;
  stack.size = kStackSize;
  sys::raw(SYS_sigaltstack, reinterpret_cast<long>(&stack), 0);
}

void leave_signal_stack() {
  KernelStack stack{};
  stack.flags = SS_DISABLE;
  sys::raw(SYS_sigaltstack, reinterpret_cast<long>(&stack), 0);
}

// Not all: what ends the program ends it meanwhile, too.
Birth::Birth() {
  uint64_t held = 0;
  for (int signal = 1; signal <= sys::kSignals; signal++) {
    if (reaches_runtime(signal)) held |= signal_bit(signal);
  }
  sys::raw(SYS_rt_sigprocmask, SIG_BLOCK, reinterpret_cast<long>(&held),
           reinterpret_cast<long>(&mask_), 8);
}

Birth::~Birth() { sys::raw(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<long>(&mask_), 0, 8); }

long Birth::make(uint64_t flags, uint64_t stack, void (*entry)(uint64_t), uint64_t argument,
                 uint64_t tls, int* parent_tid) const {
  return weir_clone(flags, stack, parent_tid, nullptr, tls, entry, argument);
}

void set_mask(uint64_t mask) {
  mask &= ~sys::never_blocked();
  sys::raw(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<long>(&mask), 0, 8);
}

void block_all() {
  uint64_t mask = sys::kAllButFaults;
  sys::raw(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<long>(&mask), 0, 8);
}

void block_faults() {
  uint64_t mask = ~uint64_t{0};
  sys::raw(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<long>(&mask), 0, 8);
}

void open_mask() {
  uint64_t mask = 0;
  sys::raw(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<long>(&mask), 0, 8);
}

void install(int signal) {
  const KernelSigaction& wanted = shared().signals.actions[signal];
  KernelSigaction action{};
  action.restorer = reinterpret_cast<void*>(weir_sigreturn);
  action.flags = sys::kSaRestorer;
  if (plan().checks_races() && handled(signal)) hazards::note_handler_of(signal);
  if (reaches_runtime(signal)) {
    action.handler = reinterpret_cast<void*>(&on_signal);
    action.flags |=
        SA_SIGINFO | SA_ONSTACK | (wanted.flags & (SA_RESTART | SA_NOCLDSTOP | SA_NOCLDWAIT));
    if (signal == sys::g_probe_signal) action.flags |= SA_RESTART;  // no signal of the program's
    if (signal == SIGTRAP || signal == SIGSEGV || signal == SIGBUS) action.flags |= SA_NODEFER;
    action.mask = ~sys::never_blocked();  // until the program's handler begins, with the program's
                                          // mask (enter_handler)
  } else {
    action.handler = wanted.handler;
    action.flags |= wanted.flags & (SA_NOCLDSTOP | SA_NOCLDWAIT);
  }
  kernel_sigaction(signal, &action, nullptr);
}

void take_over() {
  Shared& s = shared();
  for (int signal = 1; signal <= sys::kSignals; signal++) {
    kernel_sigaction(signal, nullptr, &s.signals.actions[signal]);
    if (reaches_runtime(signal)) install(signal);
  }
  uint64_t mask = 0;
  sys::raw(SYS_rt_sigprocmask, SIG_BLOCK, 0, reinterpret_cast<long>(&mask), 8);
  Task& task = self();
  task.signals.mask = mask;
  KernelStack stack{};
  sys::raw(SYS_sigaltstack, 0, reinterpret_cast<long>(&stack));
  task.signals.altstack[0] = stack.base;
  task.signals.altstack[1] = static_cast<uint64_t>(stack.flags);
  task.signals.altstack[2] = stack.size;
  set_signal_stack(static_cast<uint32_t>(task.identity.process));
  set_mask(mask);
}

namespace {

bool is_ignored(const KernelSigaction& action, int signal) {
  if (action.handler) return action.handler == reinterpret_cast<void*>(SIG_IGN);
  return sys::is_ignored_by_default(signal);
}

}  // namespace

long sigaction(int signal, const KernelSigaction* action, KernelSigaction* old) {
  if (signal < 1 || signal > sys::kSignals) return -EINVAL;
  if (action && (signal == SIGKILL || signal == SIGSTOP)) return -EINVAL;
  Shared& s = shared();
  KernelSigaction previous;
  KernelSigaction wanted{};
  if (action) wanted = *action;
  {
    SpinGuard guard(s.signals.lock);
    previous = s.signals.actions[signal];
    if (action) s.signals.actions[signal] = wanted;
  }
  if (action) install(signal);
  if (action && is_ignored(wanted, signal)) drop_program_signals(signal);
  if (old) *old = previous;
  return 0;
}

long sigaltstack(const uint64_t* stack, uint64_t* old) {
  constexpr uint32_t kAutoDisarm = 1u << 31;  // SS_AUTODISARM
  Task& task = self();
  const uint64_t rsp = task.frame->rsp;
  const bool on =
      task.signals.altstack[2] && rsp - task.signals.altstack[0] < task.signals.altstack[2];
  const uint64_t previous[3] = {task.signals.altstack[0],
                                on                         ? uint64_t{SS_ONSTACK}
                                : task.signals.altstack[2] ? task.signals.altstack[1]
                                                           : uint64_t{SS_DISABLE},
                                task.signals.altstack[2]};
  if (stack) {
    if (on) return -EPERM;
    const uint32_t flags = static_cast<uint32_t>(stack[1]);
    if (flags & ~(SS_DISABLE | SS_ONSTACK | kAutoDisarm)) return -EINVAL;
    if ((flags & kAutoDisarm) && !(flags & SS_DISABLE)) {
      // It would have to be taken away at a handler's begin, and given back by its sigreturn.
      if (!__atomic_exchange_n(&shared().program.disarm_told, 1u, __ATOMIC_RELAXED))
        report("sigaltstack(SS_AUTODISARM) is not supported under Weir: it returns EINVAL");
      return -EINVAL;
    }
    if (flags & SS_DISABLE) {
      task.signals.altstack[0] = task.signals.altstack[1] = task.signals.altstack[2] = 0;
    } else {
      if (stack[2] < 2048) return -ENOMEM;
      task.signals.altstack[0] = stack[0];
      task.signals.altstack[1] = 0;
      task.signals.altstack[2] = stack[2];
    }
  }
  if (old) copy_bytes(old, previous, sizeof previous);
  return 0;
}

}  // namespace weir::trap
