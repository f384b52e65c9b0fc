// Problem: one handler of the kernel's gets every signal. Some are faults by which Weir gives
// pages, looks at accesses or finds execution points; some are Weir's own calls between processes;
// the rest is the program's, which may be in the runtime at the moment. Mechanism: those that
// concern Weir claim their signals, in the order of a table; what nobody claims goes to the
// program's handler, or waits until the task leaves the runtime. The invariants stand at the top of
// signals.cc.
#include "signal/arrive.h"

#include <signal.h>

#include "base/bytes.h"
#include "check/keys/key_fault.h"
#include "check/replay/fault.h"
#include "code/patch/cancel_site.h"
#include "code/translate/counted.h"
#include "constant/constant.h"
#include "control/control.h"
#include "control/process.h"
#include "memory/backing.h"
#include "memory/mapped.h"
#include "order/serial/serial.h"
#include "record/input.h"
#include "record/signals.h"
#include "record/stop_point.h"
#include "record/stream.h"
#include "signal/context/refused_access.h"
#include "signal/context/shown_registers.h"
#include "signal/forward.h"
#include "signal/heap_misuse.h"
#include "signal/names.h"
#include "signal/page_fault.h"
#include "signal/queue.h"
#include "signal/signals.h"
#include "signal/spin_probe.h"
#include "signal/timers.h"
#include "sync/event.h"
#include "sync/turn_rules.h"
#include "sys/float_x86_64.h"
#include "sys/libc.h"
#include "sys/report.h"
#include "view/view.h"

extern "C" {
extern char weir_site_exit[], weir_site_exit_end[], weir_sigreturn[], weir_key_sigreturn[];
extern char weir_shown_sigreturn[], weir_copied_sigreturn[];
extern char weir_restore_begin[], weir_restore_end[], weir_restore_again[];
extern char weir_interruptible_begin[], weir_interruptible_end[], weir_interrupted[];
extern char weir_safe_begin[], weir_safe_end[], weir_safe_fault[];
[[noreturn]] void weir_run_handler(uint64_t stack, void* handler, long signal, void* info,
                                   void* context, uint64_t mask);
}

namespace weir::trap {

using sys::KernelSigaction;
using sys::signal_bit;

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
  } else if (rip >= reinterpret_cast<uint64_t>(weir_restore_begin) &&
             rip < reinterpret_cast<uint64_t>(weir_restore_end)) {
    gregs[REG_RIP] = reinterpret_cast<greg_t>(weir_restore_again);
    gregs[REG_RSP] = reinterpret_cast<greg_t>(task.delivered);
    gregs[REG_EFL] &= ~greg_t{0x400};
    task.in_runtime = 1;
  } else if (translate::is_inside(rip) && !input::recording()) {
    // Recorded, it comes with the next event, and what is counted until then is not cut.
    translate::interrupt(context);
  }
}

// A probe may be stepping; the program does not, and its flags are those of a replay.
void hide_probe(ucontext_t& context) {
  auto& gregs = context.uc_mcontext.gregs;
  gregs[REG_EFL] &= ~static_cast<greg_t>(sys::kTrapFlag);
  signal_rules().show_flags(context);
}

// The kernel's frame names the runtime's stack for signals; the program's handler sees its own. The
// kernel would make that one the process's when the handler returns, but refuses these flags, and
// then leaves the runtime's.
void show_stack(const Task& task, ucontext_t& context) {
  constexpr int kRefused = 4;
  const uint64_t* own = task.signals.altstack;
  const uint64_t rsp = static_cast<uint64_t>(context.uc_mcontext.gregs[REG_RSP]);
  const bool is_off = !own[2] || (own[1] & SS_DISABLE);
  context.uc_stack.ss_sp = reinterpret_cast<void*>(own[0]);
  context.uc_stack.ss_size = own[2];
  context.uc_stack.ss_flags = kRefused | (is_off                  ? SS_DISABLE
                                          : rsp - own[0] < own[2] ? SS_ONSTACK
                                                                  : 0);
}

// Copies the kernel's frame onto the program's stack and enters the program's handler.
[[noreturn]] void enter_handler(Task& task, int signal, siginfo_t* info, ucontext_t* context) {
  // Invariant 2 of signals.cc.
  WEIR_DEBUG_CHECK(!g_tasks_active || !in_runtime(task, *context));
  WEIR_CHECK(!runtime::g_is_in_place_process);  // invariant 3 of in_place_process.h
  task.recorded.settling = 0;
  turn_rules().before_handler(task, static_cast<uint64_t>(context->uc_mcontext.gregs[REG_RIP]));
  KernelSigaction action = shared().signals.actions[signal];
  if (action.flags & SA_RESETHAND) {
    KernelSigaction reset = action;  // as the kernel: what remains are its flags and its mask
    reset.handler = nullptr;
    sigaction(signal, &reset, nullptr);
  }
  const uint64_t frame = reinterpret_cast<uint64_t>(context) - 8;
  const uint64_t state = reinterpret_cast<uint64_t>(context->uc_mcontext.fpregs);
  const uint64_t state_size = sys::size_of_state(context->uc_mcontext.fpregs);
  const uint64_t info_at = reinterpret_cast<uint64_t>(info);
  const uint64_t head = (info_at > frame ? info_at + 128 : frame + 8 + sys::kContextSize) - frame;
  uint64_t top = static_cast<uint64_t>(context->uc_mcontext.gregs[REG_RSP]) - 128;
  const uint64_t base = task.signals.altstack[0], size = task.signals.altstack[2];
  if ((action.flags & SA_ONSTACK) && size && !(task.signals.altstack[1] & SS_DISABLE) &&
      top - base >= size)
    top = base + size;
  const uint64_t new_state = (top - state_size) & ~uint64_t{63};
  Frame* const shown = has_keys() ? nullptr : take_shown_frame(task, head);
  const uint64_t kept_size = shown ? kKeptSize : 0;
  const uint64_t new_frame = ((new_state - head - kept_size) & ~uint64_t{15}) - 8;
  copy_bytes(reinterpret_cast<void*>(new_state), reinterpret_cast<void*>(state), state_size);
  signal_rules().fill_state(reinterpret_cast<uint8_t*>(new_state), state_size);
  copy_bytes(reinterpret_cast<void*>(new_frame), reinterpret_cast<void*>(frame), head);
  auto* new_context = reinterpret_cast<ucontext_t*>(new_frame + 8);
  hide_probe(*new_context);
  show_stack(task, *new_context);
  if (!is_of_instruction(
          signal,
          *info)) {  // else what the last fault left there, of which the program knows nothing
    auto& gregs = new_context->uc_mcontext.gregs;
    gregs[REG_ERR] = gregs[REG_TRAPNO] = gregs[REG_CR2] = 0;
  }
  if (shown) {
    // The registers are kept as they are now: they stay in memory, and a replay has the same.
    show_registers(*new_context, *shown, signal == kCancelSignal);
    hide_probe(*new_context);
    note_shown(*new_context);
  }
  new_context->uc_mcontext.fpregs = reinterpret_cast<fpregset_t>(new_state);
  *reinterpret_cast<uint64_t*>(new_frame) =
      reinterpret_cast<uint64_t>(has_keys()             ? weir_key_sigreturn
                                 : shown                ? weir_shown_sigreturn
                                 : plan().gives_pages() ? weir_copied_sigreturn
                                                        : weir_sigreturn);
  note_handler(task, new_frame, signal);
  uint64_t new_info = new_frame + (info_at - frame);
  uint64_t mask = 0;
  copy_bytes(&mask, &context->uc_sigmask, sizeof mask);
  mask |= action.mask | (action.flags & SA_NODEFER ? 0 : signal_bit(signal));
  task.replays = input::replaying();
  view::current().enter_program(task);
  weir_run_handler(new_frame, action.handler, signal, reinterpret_cast<void*>(new_info),
                   new_context, mask & ~sys::never_blocked());
}

// The runtime copies from or to an address of the program's (memory/program_memory.h).
bool in_safe_copy(const ucontext_t& context) {
  const auto rip = static_cast<uint64_t>(context.uc_mcontext.gregs[REG_RIP]);
  return rip >= reinterpret_cast<uint64_t>(weir_safe_begin) &&
         rip < reinterpret_cast<uint64_t>(weir_safe_end);
}

// A fault or trap that is the program's own: its handler, or the kernel's default with the fault
// repeated.
void program_fault(Task& task, int signal, siginfo_t* info, ucontext_t* context) {
  // Else sent by the program itself, in the runtime's system call.
  const bool is_fault = info->si_code > 0;
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
    const auto at = reinterpret_cast<uint64_t>(info->si_addr);
    if (signal == SIGSEGV && info->si_code == SEGV_ACCERR && plan().has_processes() &&
        page::has_hole({page_down(at), page_down(at) + kPageSize}))
      info->si_code = SEGV_MAPERR;  // reserved by Weir, and the program has nothing there
    enter_handler(task, signal, info, context);
  }
  if (is_fault && g_tasks_active && has_short_turns() && !in_runtime(task, *context)) {
    task.in_runtime = 1;
    begin_turn(EventKind::kExit);  // it comes after the turns that were before it
  }
  if (is_fault)
    signal_rules().log_end(task, signal, static_cast<uint64_t>(context->uc_mcontext.gregs[REG_RIP]),
                           reinterpret_cast<uint64_t>(info->si_addr));
  turn_rules().come_in(task);
  const Registers registers = registers_of_gregs(context->uc_mcontext.gregs);
  order::serial::end(order::End::kSignal, signal,
                     in_runtime(task, *context) ? nullptr : &registers);
  page::dump_only_present();
  KernelSigaction reset{};
  reset.flags = sys::kSaRestorer;
  reset.restorer = weir_sigreturn;
  kernel_sigaction(signal, &reset, nullptr);
  if (!is_fault || signal == SIGTRAP) sys::raw(SYS_tkill, sys::raw(SYS_gettid), signal);
}

// The kernel says of SIGPIPE and SIGXFSZ, which a task's own call has raised, that the process in
// which the call was made has sent them. What the program sends to itself comes by the runtime.
bool is_of_own_call(int signal, const siginfo_t* info) {
  return (signal == SIGPIPE || signal == SIGXFSZ) && info->si_code == SI_USER &&
         (info->si_pid == sys::raw(SYS_getpid) ||
          (g_tasks_active && info->si_pid == shared().in_place_process.tid));
}

// A signal to the whole program (from the terminal, or to its process group) reaches every task's
// process and the monitor; the monitor's copy is the one that counts.
bool for_this_task(int signal, const siginfo_t* info) {
  Shared& s = shared();
  if (!s.program.monitor) return true;
  if (info->si_code == SI_KERNEL) {
    return signal != SIGINT && signal != SIGQUIT && signal != SIGTSTP && signal != SIGHUP &&
           signal != SIGWINCH && signal != SIGCONT && signal != SIGTTIN && signal != SIGTTOU;
  }
  return info->si_code != SI_USER ||
         info->si_pid == s.program.monitor ||  // what send_to_program has chosen a task for
         is_of_own_call(signal, info);
}

// A signal, as the kernel has handed it to on_signal.
struct Arrived {
  Task& task;
  int signal;
  siginfo_t* info;
  ucontext_t* context;

  bool is(int number) const { return signal == number; }
  bool is_fault() const { return info->si_code > 0; }  // else somebody has sent it
  uint64_t address() const { return reinterpret_cast<uint64_t>(info->si_addr); }
};

bool claim_for_view(const Arrived& a) {
  return view::current().claim_signal(a.task, a.signal, *a.info, *a.context);
}

bool claim_own_write(const Arrived& a) { return end_own_write(a.signal, *a.info, *a.context); }

bool claim_name(const Arrived& a) {
  if (!takes_name(a.signal, *a.info)) return false;
  a.task.signals.met_own = 1;
  return true;
}

bool claim_continue(const Arrived& a) { return a.is(SIGCONT) && a.info->si_code == kContinuesOnly; }

bool claim_counted_code(const Arrived& a) {
  return !translate::meet_signal(a.signal, a.info->si_code, *a.context);
}

bool claim_refused_access(const Arrived& a) { return meet_refused(a.task, a.signal, *a.context); }

bool claim_access(const Arrived& a) {
  return view::current().claim_access(a.task, a.signal, *a.info, *a.context);
}

bool claim_made_site(const Arrived& a) {
  return a.is(SIGSEGV) && a.info->si_code == SI_KERNEL &&
         meet_made_site(a.task, *a.info, *a.context);
}

bool claim_closed_page(const Arrived& a) {
  return a.is(SIGSEGV) && a.is_fault() && meet_closed(a.task, a.address(), *a.context);
}

bool claim_safe_copy(const Arrived& a) {
  if (!(a.is(SIGSEGV) || a.is(SIGBUS)) || !a.is_fault() || !in_safe_copy(*a.context)) return false;
  a.context->uc_mcontext.gregs[REG_RIP] = reinterpret_cast<greg_t>(weir_safe_fault);
  return true;
}

bool claim_heap_misuse(const Arrived& a) {
  if (guard::g_is_on && a.is(SIGSEGV) && a.is_fault())
    look_at_heap_fault(a.task, *a.info, *a.context);  // it does not return if it is one
  return false;
}

// Checked tasks see each other's memory without an event in between. What another task has mapped
// or opened may not be so in this process yet: then the access is made once more.
bool claim_late_mapping(const Arrived& a) {
  if (!(a.is(SIGSEGV) || a.is(SIGBUS)) || !a.is_fault() || !g_tasks_active) return false;
  if (plan().memory != Plan::Memory::kChecked || !runtime::lacks_mappings()) return false;
  runtime::apply_mappings(a.task);
  return true;
}

bool claim_trap_site(const Arrived& a) {
  return a.is(SIGTRAP) && on_trap(a.task, a.info, *a.context);
}

// The program has set the trap flag itself. In its handler's frame the flag is clear
// (hide_probe), as a probe's is; what comes after in the runtime is none of the program's.
bool claim_own_step(const Arrived& a) {
  if (!a.is(SIGTRAP) || a.info->si_code != TRAP_TRACE) return false;
  if (!__atomic_exchange_n(&shared().program.step_told, 1u, __ATOMIC_RELAXED)) {
    report(
        "the program steps itself (the trap flag): under Weir its handler gets the first step "
        "only, and in a recording none");
  }
  if (!in_runtime(a.task, *a.context) && !on_signal_stack(a.task, *a.context)) return false;
  a.context->uc_mcontext.gregs[REG_EFL] &= ~static_cast<greg_t>(sys::kTrapFlag);
  return true;
}

// This process runs code of tasks that have processes of their own: what concerns the task alone it
// is to meet there.
bool claim_for_own_process(const Arrived& a) {
  if (!runtime::g_is_in_place_process || in_runtime(a.task, *a.context) ||
      on_signal_stack(a.task, *a.context))
    return false;
  if (!is_ours(a.signal) && !is_of_instruction(a.signal, *a.info) && !a.task.in_place.wanted_back)
    return false;
  if (a.is(sys::g_probe_signal) && !a.task.in_place.wanted_back) return false;
  interrupt_for_own(a.task, *a.context);
  return true;
}

bool claim_probe(const Arrived& a) {
  if (!a.is(sys::g_probe_signal) || (a.info->si_code != SI_TKILL && a.info->si_code != SI_TIMER &&
                                     !has_lost_information(*a.info)))
    return false;
  if (a.task.identity.in_vfork) {  // whom Weir itself never asks
    a.task.signals.met_own = 1;
    return true;
  }
  if (!in_runtime(a.task, *a.context) && !on_signal_stack(a.task, *a.context)) {
    if (a.task.order.place_wanted) tell_place(a.task, *a.context);
    on_probe(a.task, *a.context);
    return true;
  }
  note_probe();
  a.task.signals.met_own = 1;
  // All others stand still, and wait for this.
  if (__atomic_load_n(&shared().mapping_log.catch_up, __ATOMIC_ACQUIRE)) {
    runtime::apply_mappings(a.task);
  }
  // It sleeps in the kernel, and another task has sent it a signal.
  if (a.task.inbox_count) redirect(a.task, *a.context);
  return true;
}

bool claim_overtaker(const Arrived& a) {
  return waits_behind(a.task, a.signal, a.info, in_runtime(a.task, *a.context));
}

bool claim_instruction(const Arrived& a) {
  if (!is_of_instruction(a.signal, *a.info)) return false;
  if (!is_ours(a.signal) && in_runtime(a.task, *a.context)) return false;
  program_fault(a.task, a.signal, a.info, a.context);
  return true;
}

bool claim_unhandled(const Arrived& a) {
  if (handled(a.signal)) return false;
  const bool ignored =
      reinterpret_cast<uint64_t>(shared().signals.actions[a.signal].handler) == kIgnore;
  if ((is_ours(a.signal) && !ignored) || is_kept(a.signal))
    program_fault(a.task, a.signal, a.info, a.context);
  return true;
}

// A signal for the program's handler: now, or when the task leaves the runtime.
void give_to_program(const Arrived& a) {
  Task& task = a.task;
  // What is raised again was made ready when it was noted. In a recording another one may have come
  // in its place, which the kernel holds for the same.
  const Coming coming = signal_rules().meet(task, a.signal, a.info);
  // What the runtime raises again was for this task, whoever had sent it; in a replay that is
  // nobody who is there.
  if (!coming.is_ours && !for_this_task(a.signal, a.info)) return;
  // On the signal stack only those of a fault's number arrive, which nobody can block.
  const bool is_in =
      in_runtime(task, *a.context) || (g_tasks_active && on_signal_stack(task, *a.context));
  if (input::replaying() && (coming.waits || is_in)) return;
  if (coming.waits || is_in) {
    // The handlers of all others begin so; sigreturn takes it back.
    if (is_ours(a.signal)) block_all();
    if (coming.shows_now) fix_sender(a.info);
    take_timer_overruns(a.info);
    note_pending(task, a.signal, a.info);
    if (is_in) redirect(task, *a.context);
    else if (!stop_at_point(task, *a.context, true)) input::note_waiting_signal(task, a.signal);
    return;
  }
  if (!coming.is_ready) fix_sender(a.info);
  if (!coming.is_ready) take_timer_overruns(a.info);
  forget_started(*a.context);
  end_cancelled_call(a.signal, *a.context);
  enter_handler(task, a.signal, a.info, a.context);
}

// The signals that are not the program's, or need something before the program has them. The first
// that claims a signal has done with it; each stands where it does for a reason.
using Claim = bool (*)(const Arrived&);
constexpr Claim kClaims[] = {
    claim_for_view,        // first: until keys are open, memory of the runtime may be closed
    claim_own_write,       // before all that goes on elsewhere: closes the page in any case
    claim_name,            // needs nothing else
    claim_continue,        // has done its work by coming
    claim_counted_code,    // before all that looks at rip: it is another in translated code
    claim_refused_access,  // likewise
    claim_access,
    claim_made_site,
    claim_closed_page,
    claim_safe_copy,     // after pages: a copy may touch one that its task can have
    claim_heap_misuse,   // after copies, which may fail; before the program's handlers
    claim_late_mapping,  // before what the program has done wrong
    claim_trap_site,
    claim_own_step,         // after what a probe or a stop steps
    claim_for_own_process,  // after what any process can do for the task
    claim_probe,
    claim_overtaker,  // from here on signals are the program's
    claim_instruction,
    claim_unhandled,
};

[[maybe_unused]] bool is_on_own_signal_stack(const void* local) {
  const Task& task = self();
  if (task.identity.in_vfork) return true;  // on its maker's
  const uint64_t top =
      runtime::g_is_in_place_process ? stack_top_of(runtime::g_process) : task.stack_top;
  return top - kStackSize - reinterpret_cast<uint64_t>(local) < kStackSize;
}

[[maybe_unused]] bool is_as_itself() {
  const TaskIdentity& task = self().identity;
  return runtime::g_is_in_place_process || task.in_vfork || !task.tid ||
         task.tid == sys::raw(SYS_gettid);
}

}  // namespace

void fix_sender(siginfo_t* info) {
  info->si_code = original_code(info->si_code);
  const bool is_sent = has_sender(info->si_code);
  if (!is_sent && info->si_signo != SIGCHLD) return;
  Shared& s = shared();
  for (uint32_t p = 0; p < s.processes.high; p++) {
    if (is_sent && s.processes.entries[p].pid == info->si_pid && s.program.monitor)
      info->si_pid = s.program.shown_pid;
  }
  if (constant::has_pid()) info->si_pid = constant::shown_id(info->si_pid);
}

void take_timer_overruns(siginfo_t* info) {
  if (input::replaying()) return;
  const int code = info->si_code;
  info->si_code = original_code(code);
  take_overruns(*info);
  info->si_code = code;
}

void on_signal(int signal, siginfo_t* info, void* context_pointer) {
  sys::allow_unaligned_accesses();
  // Invariants 1 and 6 of signals.cc.
  WEIR_DEBUG_CHECK(is_on_own_signal_stack(&context_pointer) && is_as_itself());
  const Arrived arrived{self(), signal, info, static_cast<ucontext_t*>(context_pointer)};
  for (const Claim claims : kClaims)
    if (claims(arrived)) return;
  give_to_program(arrived);
}

}  // namespace weir::trap
