// Invariants
// 1. The kernel's handler for every signal that the program handles is on_signal, on the runtime's
//    signal stack, so no signal frame is ever written to program memory by the kernel behind the
//    View's back.
// 2. While the task is in the runtime (flag, rip or rsp say so) on_signal only notes the signal.
//    The exit path of the runtime looks at `pending` and raises the signals again in program state;
//    see entry_x86_64.S for the last window.
// 3. In program state on_signal copies the kernel's frame to the program's stack and enters the
//    program's handler there; the handler returns by the kernel's own sigreturn from the copy (with
//    protection keys: key_fault.cc sees it before).
// 4. SIGSEGV, SIGBUS, SIGTRAP and the probe signal are never blocked in the kernel. All others are
//    blocked from the entry of on_signal until the program's handler begins (weir_run_handler), so
//    a signal is noted by one handler at a time.
// 5. While a handler of Weir's is on the signal stack the task is not led away from it: the next
//    signal would begin at its top.

#include "signal/signals.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>

#include "base/bytes.h"
#include "check/keys/key_fault.h"
#include "check/replay/replay.h"
#include "code/patch/cancel_site.h"
#include "code/translate/counted.h"
#include "control/control.h"
#include "control/process.h"
#include "memory/backing.h"
#include "record/input.h"
#include "record/shared_memory/shared_memory.h"
#include "record/signals.h"
#include "record/stop_point.h"
#include "signal/forward.h"
#include "signal/page_fault.h"
#include "signal/raised_again.h"
#include "signal/spin_probe.h"
#include "sync/event.h"
#include "sys/futex.h"
#include "sys/report.h"
#include "sys/signal.h"
#include "sys/syscall_x86_64.h"
#include "task/spawn.h"
#include "view/view.h"

extern "C" {
extern char weir_site_exit[], weir_site_exit_end[], weir_sigreturn[], weir_key_sigreturn[];
extern char weir_interruptible_begin[], weir_interruptible_end[], weir_interrupted[];
extern char weir_guarded_begin[], weir_guarded_end[], weir_guarded_fault[];
[[noreturn]] void weir_run_handler(uint64_t stack, void* handler, long signal, void* info,
                                   void* context, uint64_t mask);
}

namespace weir::trap {

namespace {

using sys::KernelSigaction;
using sys::signal_bit;

constexpr uint64_t kDefault = 0, kIgnore = 1;

struct KernelStack {
  uint64_t base;
  int32_t flags;
  int32_t pad;
  uint64_t size;
};

long kernel_sigaction(int signal, const KernelSigaction* action, KernelSigaction* old) {
  return sys::raw(SYS_rt_sigaction, signal, reinterpret_cast<long>(action),
                  reinterpret_cast<long>(old), 8);
}

// Made by an instruction of the task's own, and not by a call of somebody's: it comes at that
// instruction or never.
bool is_of_instruction(int signal, const siginfo_t& info) {
  return info.si_code > 0 && info.si_errno != kRaisedAgain &&
         (is_ours(signal) || signal == SIGFPE || signal == SIGILL);
}

}  // namespace

bool handled(int signal) {
  uint64_t handler = reinterpret_cast<uint64_t>(shared().actions[signal].handler);
  return handler != kDefault && handler != kIgnore;
}

bool in_runtime(const Task& task, const ucontext_t& context) {
  const auto rip = static_cast<uint64_t>(context.uc_mcontext.gregs[REG_RIP]),
             rsp = static_cast<uint64_t>(context.uc_mcontext.gregs[REG_RSP]);
  if (task.in_runtime || runtime::g_away || count::is_inside(rip)) return true;
  if (on_runtime_stack(task, rsp)) return true;
  auto within = [&](const char* from, const char* to) {
    return rip >= reinterpret_cast<uint64_t>(from) && rip < reinterpret_cast<uint64_t>(to);
  };
  if (within(weir_site_exit, weir_site_exit_end)) return true;
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

namespace {

// The windows in which noting alone would be too late, and code that only counts.
void redirect(Task& task, ucontext_t& context) {
  auto& gregs = context.uc_mcontext.gregs;
  const uint64_t rip = static_cast<uint64_t>(gregs[REG_RIP]);
  if (rip >= reinterpret_cast<uint64_t>(weir_interruptible_begin) &&
      rip < reinterpret_cast<uint64_t>(weir_interruptible_end)) {
    gregs[REG_RIP] = reinterpret_cast<greg_t>(weir_interrupted);
  } else if (rip >= reinterpret_cast<uint64_t>(weir_site_exit) &&
             rip < reinterpret_cast<uint64_t>(weir_site_exit_end)) {
    gregs[REG_RIP] = reinterpret_cast<greg_t>(weir_site_exit);
    gregs[REG_RSP] = reinterpret_cast<greg_t>(task.frame);
    gregs[REG_EFL] &= ~greg_t{0x400};
    task.in_runtime = 1;
  } else if (count::is_inside(rip)) {
    count::interrupt(context);
  }
}

// Copies the kernel's frame onto the program's stack and enters the program's handler.
[[noreturn]] void enter_handler(Task& task, int signal, siginfo_t* info, ucontext_t* context) {
  KernelSigaction action = shared().actions[signal];
  if (action.flags & SA_RESETHAND) {
    KernelSigaction reset{};
    sigaction(signal, &reset, nullptr);
  }
  const uint64_t frame = reinterpret_cast<uint64_t>(context) - 8;
  const uint64_t state = reinterpret_cast<uint64_t>(context->uc_mcontext.fpregs);
  // Software-reserved bytes of the fxsave area: magic, total size of the extended state.
  const uint32_t* reserved = reinterpret_cast<const uint32_t*>(state + 464);
  const uint64_t state_size = reserved[0] == 0x46505853 ? reserved[1] : 512;
  const uint64_t info_at = reinterpret_cast<uint64_t>(info);
  const uint64_t head = (info_at > frame ? info_at + 128 : frame + 8 + 304) - frame;
  uint64_t top = static_cast<uint64_t>(context->uc_mcontext.gregs[REG_RSP]) - 128;
  const uint64_t base = task.altstack[0], size = task.altstack[2];
  if ((action.flags & SA_ONSTACK) && size && !(task.altstack[1] & SS_DISABLE) && top - base >= size)
    top = base + size;
  const uint64_t new_state = (top - state_size) & ~uint64_t{63};
  const uint64_t new_frame = ((new_state - head) & ~uint64_t{15}) - 8;
  copy_bytes(reinterpret_cast<void*>(new_state), reinterpret_cast<void*>(state), state_size);
  if (input::is_on()) fill_state(reinterpret_cast<uint8_t*>(new_state), state_size);
  copy_bytes(reinterpret_cast<void*>(new_frame), reinterpret_cast<void*>(frame), head);
  auto* new_context = reinterpret_cast<ucontext_t*>(new_frame + 8);
  new_context->uc_mcontext.gregs[REG_EFL] &=
      ~static_cast<greg_t>(sys::kTrapFlag);  // a probe may be stepping; the program does not
  if (input::is_on()) {
    auto& gregs = new_context->uc_mcontext.gregs;
    gregs[REG_EFL] = static_cast<greg_t>(
        shown_flags(static_cast<uint64_t>(gregs[REG_RIP]), static_cast<uint64_t>(gregs[REG_EFL])));
  }
  if (!is_of_instruction(
          signal,
          *info)) {  // else what the last fault left there, of which the program knows nothing
    auto& gregs = new_context->uc_mcontext.gregs;
    gregs[REG_ERR] = gregs[REG_TRAPNO] = gregs[REG_CR2] = 0;
  }
  new_context->uc_mcontext.fpregs = reinterpret_cast<fpregset_t>(new_state);
  *reinterpret_cast<uint64_t*>(new_frame) =
      reinterpret_cast<uint64_t>(has_keys() ? weir_key_sigreturn : weir_sigreturn);
  note_handler(task, new_frame);
  uint64_t new_info = new_frame + (info_at - frame);
  uint64_t mask = 0;
  copy_bytes(&mask, &context->uc_sigmask, sizeof mask);
  mask |= action.mask | (action.flags & SA_NODEFER ? 0 : signal_bit(signal));
  task.replays = input::replaying();
  view::enter_program(task);
  weir_run_handler(new_frame, action.handler, signal, reinterpret_cast<void*>(new_info),
                   new_context, mask & ~sys::never_blocked());
}

// The runtime copies from or to an address of the program's (memory/program_memory.h).
bool in_guarded_copy(const ucontext_t& context) {
  const auto rip = static_cast<uint64_t>(context.uc_mcontext.gregs[REG_RIP]);
  return rip >= reinterpret_cast<uint64_t>(weir_guarded_begin) &&
         rip < reinterpret_cast<uint64_t>(weir_guarded_end);
}

// A fault or trap that is the program's own: its handler, or the kernel's default with the fault
// repeated.
void program_fault(Task& task, int signal, siginfo_t* info, ucontext_t* context) {
  const bool is_fault =
      info->si_code > 0;  // else sent by the program itself, in the runtime's system call
  if (is_fault && g_tasks_active && in_runtime(task, *context)) {
    auto& gregs = context->uc_mcontext.gregs;
    report(
        "fault in the runtime: signal %d at %x, address %x, stack %x, task %u (please report this)",
        int64_t{signal}, static_cast<uint64_t>(gregs[REG_RIP]),
        reinterpret_cast<uint64_t>(info->si_addr), static_cast<uint64_t>(gregs[REG_RSP]),
        uint64_t{task.id});
  } else if (handled(signal) &&
             !on_signal_stack(
                 task, *context)) {  // there, the program's stack had no room for a handler's frame
    enter_handler(task, signal, info, context);
  }
  if (is_fault && g_tasks_active && has_short_turns() && !in_runtime(task, *context)) {
    task.in_runtime = 1;
    begin_turn(EventKind::kExit);  // it comes after the turns that were before it
  }
  page::dump_only_present();
  KernelSigaction reset{};
  reset.flags = sys::kSaRestorer;
  reset.restorer = weir_sigreturn;
  kernel_sigaction(signal, &reset, nullptr);
  if (!is_fault || signal == SIGTRAP) sys::raw(SYS_tkill, sys::raw(SYS_gettid), signal);
}

// A signal to the whole program (from the terminal, or to its process group) reaches every task's
// process and the monitor; the monitor's copy is the one that counts.
bool for_this_task(int signal, const siginfo_t* info) {
  Shared& s = shared();
  if (!s.monitor) return true;
  if (info->si_code == SI_KERNEL) {
    return signal != SIGINT && signal != SIGQUIT && signal != SIGTSTP && signal != SIGHUP &&
           signal != SIGWINCH && signal != SIGCONT && signal != SIGTTIN && signal != SIGTTOU;
  }
  return info->si_code != SI_USER ||
         info->si_pid == s.monitor;  // what send_to_program has chosen a task for
}

void fix_sender(siginfo_t* info) {
  info->si_code = original_code(info->si_code);
  if (info->si_code != SI_TKILL && info->si_code != SI_USER && info->si_code != SI_QUEUE) return;
  Shared& s = shared();
  for (uint32_t p = 0; p < s.high_process; p++) {
    if (s.processes[p].pid == info->si_pid && s.monitor) info->si_pid = s.shown_pid;
  }
}

void on_signal(int signal, siginfo_t* info, void* context_pointer) {
  auto* context = static_cast<ucontext_t*>(context_pointer);
  Task& task = self();
  if (has_keys() && meet_key_signal(task, signal, *info, *context)) return;
  if ((signal == SIGCONT && info->si_code == kContinuesOnly) ||
      !count::meet_signal(signal, info->si_code, *context))
    return;
  const auto address = reinterpret_cast<uint64_t>(info->si_addr);
  if (runtime::g_guarded && !runtime::g_keys && meet_guarded_signal(task, signal, *info, *context))
    return;
  if (view::guarded::replay::is_on() && meet_replayed_signal(task, signal, *info, *context)) return;
  if (signal == SIGBUS && info->si_code > 0 && runtime::g_coherent && !runtime::g_guarded &&
      meet_page(task, address, *context, false))
    return;
  if (signal == SIGSEGV && info->si_code > 0 && meet_closed(task, address, *context)) return;
  if ((signal == SIGSEGV || signal == SIGBUS) && info->si_code > 0 && in_guarded_copy(*context)) {
    context->uc_mcontext.gregs[REG_RIP] = reinterpret_cast<greg_t>(weir_guarded_fault);
    return;
  }
  if (signal == SIGTRAP && on_trap(task, info, *context)) return;
  if (runtime::g_executor &&
      (is_ours(signal) || is_of_instruction(signal, *info) || task.wanted_back) &&
      !in_runtime(task, *context) && (signal != sys::g_probe_signal || task.wanted_back)) {
    interrupt_for_own(task, *context);
    return;
  }
  if (signal == sys::g_probe_signal && (info->si_code == SI_TKILL || info->si_code == SI_TIMER)) {
    if (!in_runtime(task, *context) && !on_signal_stack(task, *context)) {
      on_probe(task, *context);
    } else {
      note_probe();
      if (__atomic_load_n(&shared().catch_up,
                          __ATOMIC_ACQUIRE)) {  // all others stand still, and wait for this
        runtime::apply_mappings(task);
        task.caught_up = 1;
      }
      if (task.inbox_count)
        redirect(task, *context);  // it sleeps in the kernel and another task has sent it a signal
    }
    return;
  }
  if (overtakes(task, signal, info)) {
    sys::raw(SYS_rt_tgsigqueueinfo, sys::raw(SYS_getpid), sys::raw(SYS_gettid), signal,
             reinterpret_cast<long>(info));
    return;
  }
  if (is_of_instruction(signal, *info) && (is_ours(signal) || !in_runtime(task, *context))) {
    program_fault(task, signal, info, context);
    return;
  }
  if (!handled(signal)) {
    const bool ignored = reinterpret_cast<uint64_t>(shared().actions[signal].handler) == kIgnore;
    if (is_ours(signal) && !ignored) program_fault(task, signal, info, context);
    return;
  }
  const bool waits = input::is_on() && waits_for_event(task, signal, info);
  // What the runtime raises again was for this task, whoever had sent it; in a replay that is
  // nobody who is there.
  if ((!input::is_on() || waits) && !for_this_task(signal, info)) return;
  if (input::replaying() && (waits || in_runtime(task, *context))) return;
  if (waits || in_runtime(task, *context)) {
    if (is_ours(signal))
      block_all();  // the handlers of all others begin so; sigreturn takes it back
    if (input::is_on()) fix_sender(info);
    note_pending(task, signal, info);
    if (in_runtime(task, *context)) redirect(task, *context);
    else if (!stop_at_place(task, *context, true)) input::note_waiting_signal(task, signal);
    return;
  }
  if (!input::is_on()) fix_sender(info);
  forget_started(*context);
  end_cancelled_call(signal, *context);
  enter_handler(task, signal, info, context);
}

}  // namespace

bool on_runtime_stack(const Task& task, uint64_t rsp) {
  return rsp > task.stack_top - kStackSize && rsp <= task.stack_top;
}

bool on_signal_stack(const Task& task, const ucontext_t& context) {
  const uint64_t top =
      runtime::g_executor ? tasks::stack_top_of(runtime::g_process) : task.stack_top;
  return top - kStackSize - static_cast<uint64_t>(context.uc_mcontext.gregs[REG_RSP]) < kStackSize;
}

void note_pending(Task& task, int signal, const siginfo_t* info) {
  if (!task.pending_signals) {
    task.pending_signals = reinterpret_cast<PendingSignal*>(kNoted + task.id * kNotedSize +
                                                            (task.in_vfork ? kNotedSize / 2 : 0));
  }
  for (uint32_t i = 0; i < task.pending; i++) {
    if (task.pending_signals[i].signal == signal && signal < sys::kFirstRealTime)
      return;  // standard signals do not queue
  }
  if (task.pending == kNotedCapacity) return;
  PendingSignal& slot = task.pending_signals[task.pending];
  slot.signal = signal;
  copy_bytes(slot.info, info, sizeof slot.info);
  __atomic_store_n(&task.pending, task.pending + 1, __ATOMIC_SEQ_CST);
  // Where it is about to sleep until others wake it, or the kernel goes on with that sleep after
  // the handler (SA_RESTART).
  __atomic_store_n(&task.wake_word, 1u, __ATOMIC_SEQ_CST);
}

void set_signal_stack(uint32_t process) {
  KernelStack stack{};
  stack.base = kStacks + 2 * process * kStackSize;
  stack.size = kStackSize;
  sys::raw(SYS_sigaltstack, reinterpret_cast<long>(&stack), 0);
}

void set_mask(uint64_t mask) {
  mask &= ~sys::never_blocked();
  sys::raw(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<long>(&mask), 0, 8);
}

void block_all() {
  uint64_t mask = sys::kAllButFaults;
  sys::raw(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<long>(&mask), 0, 8);
}

void open_mask() {
  uint64_t mask = 0;
  sys::raw(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<long>(&mask), 0, 8);
}

void install(int signal) {
  const KernelSigaction& wanted = shared().actions[signal];
  KernelSigaction action{};
  action.restorer = reinterpret_cast<void*>(weir_sigreturn);
  action.flags = sys::kSaRestorer;
  if (is_ours(signal) || handled(signal)) {
    action.handler = reinterpret_cast<void*>(&on_signal);
    action.flags |=
        SA_SIGINFO | SA_ONSTACK | (wanted.flags & (SA_RESTART | SA_NOCLDSTOP | SA_NOCLDWAIT));
    if (signal == SIGTRAP || signal == SIGSEGV || signal == SIGBUS) {
      action.flags |= SA_NODEFER;  // and a call at a trap site of a program of one task may sleep
                                   // in the handler (spin.cc)
    } else {
      action.mask = ~sys::never_blocked();  // until the program's handler begins, with the
                                            // program's mask (enter_handler)
    }
  } else {
    action.handler = wanted.handler;
    action.flags |= wanted.flags & (SA_NOCLDSTOP | SA_NOCLDWAIT);
  }
  kernel_sigaction(signal, &action, nullptr);
}

void take_over() {
  Shared& s = shared();
  for (int signal = 1; signal <= sys::kSignals; signal++) {
    kernel_sigaction(signal, nullptr, &s.actions[signal]);
    if (is_ours(signal) || handled(signal)) install(signal);
  }
  uint64_t mask = 0;
  sys::raw(SYS_rt_sigprocmask, SIG_BLOCK, 0, reinterpret_cast<long>(&mask), 8);
  Task& task = self();
  task.signal_mask = mask;
  KernelStack stack{};
  sys::raw(SYS_sigaltstack, 0, reinterpret_cast<long>(&stack));
  task.altstack[0] = stack.base;
  task.altstack[1] = static_cast<uint64_t>(stack.flags);
  task.altstack[2] = stack.size;
  set_signal_stack(static_cast<uint32_t>(task.process));
  set_mask(mask);
}

long sigaction(int signal, const KernelSigaction* action, KernelSigaction* old) {
  if (signal < 1 || signal > sys::kSignals) return -EINVAL;
  if (action && (signal == SIGKILL || signal == SIGSTOP)) return -EINVAL;
  Shared& s = shared();
  KernelSigaction previous;
  KernelSigaction wanted{};
  if (action) wanted = *action;
  {
    SpinGuard guard(s.signal_lock);
    previous = s.actions[signal];
    if (action) s.actions[signal] = wanted;
  }
  if (action) install(signal);
  if (old) *old = previous;
  return 0;
}

long sigaltstack(const uint64_t* stack, uint64_t* old) {
  Task& task = self();
  const uint64_t rsp = task.frame->rsp;
  const bool on = task.altstack[2] && rsp - task.altstack[0] < task.altstack[2];
  const uint64_t previous[3] = {task.altstack[0],
                                on                 ? uint64_t{SS_ONSTACK}
                                : task.altstack[2] ? 0
                                                   : uint64_t{SS_DISABLE},
                                task.altstack[2]};
  if (stack) {
    if (on) return -EPERM;
    const uint32_t flags = static_cast<uint32_t>(stack[1]);
    if (flags & ~uint32_t{SS_DISABLE | SS_ONSTACK | (1u << 31)}) return -EINVAL;
    if (flags & SS_DISABLE) {
      task.altstack[0] = task.altstack[1] = task.altstack[2] = 0;
    } else {
      if (stack[2] < 2048) return -ENOMEM;
      task.altstack[0] = stack[0];
      task.altstack[1] = 0;
      task.altstack[2] = stack[2];
    }
  }
  if (old) copy_bytes(old, previous, sizeof previous);
  return 0;
}

}  // namespace weir::trap
