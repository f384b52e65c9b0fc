// The program's signal calls while tasks exist.

#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>

#include "base/bytes.h"
#include "control/control.h"
#include "control/process.h"
#include "memory/program_memory.h"
#include "order/serial/serial.h"
#include "order/waiting.h"
#include "record/input.h"
#include "record/stream.h"
#include "signal/arrive.h"
#include "signal/forward.h"
#include "signal/queue.h"
#include "signal/signals.h"
#include "signal/timers.h"
#include "sync/event.h"
#include "sys/futex.h"
#include "sys/maps.h"
#include "sys/signal.h"
#include "sys/syscall_x86_64.h"
#include "syscall/syscall.h"
#include "task/mapping_log.h"
#include "task/spawn.h"
#include "task/told_ids.h"

namespace weir::syscalls {

namespace {

long on_sigaction(Call& call) {
  const int signal = static_cast<int>(call.a);
  sys::KernelSigaction action, old;
  if (call.d != 8) return -EINVAL;
  if (call.b && trap::from_program(action, call.b) != 0) return -EFAULT;
  const bool turn = call.b && g_tasks_active;
  if (turn) {
    begin_turn(EventKind::kSyscall);
    note_written();
  }
  long result = trap::sigaction(signal, call.b ? &action : nullptr, &old);
  if (turn && result == 0)
    runtime::record_mapping({MappingKind::kSigaction, signal, 0, -1, 0, 0, 0, 0, 0});
  if (result == 0 && call.c) result = trap::to_program(call.c, old);
  if (turn) end_turn();
  return result;
}

// Recorded, a signal is handed over at the end of an event. One that has come to a task that
// computed must be before the task blocks it: a thread blocks all before it ends.
bool comes_first(Task& task, const Call& call, uint64_t mask) {
  if (!input::is_on() || !call.b || call.a == SIG_UNBLOCK || task.identity.in_vfork) return false;
  if (g_tasks_active && has_short_turns() &&
      !task.turn.depth) {  // what other tasks have sent is found in turns
    begin_turn(EventKind::kSyscall);
    end_turn();
  }
  return input::log_if(input::What::kSignalFirst, [&] {
    for (uint32_t i = 0; i < task.pending; i++) {
      if (!(mask & sys::signal_bit(task.signals.pending_signals[i].signal))) return true;
    }
    return false;
  });
}

// The kernel's mask is the true one, since it changes with every handler; but for the signals that
// are never blocked there.
long on_sigprocmask(Call& call) {
  Task& task = self();
  uint64_t given = 0, mask = 0;
  if (call.d != 8) return -EINVAL;
  if (call.b && trap::from_program(given, call.b) != 0) return -EFAULT;
  sys::raw(SYS_rt_sigprocmask, SIG_BLOCK, 0, reinterpret_cast<long>(&mask), 8);
  const uint64_t old = mask | (task.signals.mask & sys::never_blocked());
  if (comes_first(task, call, old)) {
    call.again = true;
    return 0;
  }
  if (call.b) {
    switch (call.a) {
      case SIG_BLOCK: mask = old | given; break;
      case SIG_UNBLOCK: mask = old & ~given; break;
      case SIG_SETMASK: mask = given; break;
      default: return -EINVAL;
    }
    mask &= ~(sys::signal_bit(SIGKILL) | sys::signal_bit(SIGSTOP));
    task.signals.mask = mask;
    trap::set_mask(mask);
    trap::raise_program_signals(~mask);
  }
  return call.c ? trap::to_program(call.c, old) : 0;
}

long on_sigaltstack(const Call& call) {
  uint64_t stack[3], old[3];
  if (call.a && trap::from_program(stack, call.a, sizeof stack) != 0) return -EFAULT;
  const long result = trap::sigaltstack(call.a ? stack : nullptr, old);
  return result == 0 && call.b ? trap::to_program(call.b, old, sizeof old) : result;
}

uint64_t pending_in_kernel() {
  uint64_t set = 0;
  sys::raw(SYS_rt_sigpending, reinterpret_cast<long>(&set), 8);
  return set;
}

// What waits for the task in the kernel, and what waits for any task.
long on_sigpending(const Call& call) {
  if (call.b > 8) return -EINVAL;
  if (g_tasks_active && trap::mask_after_handlers(self()))
    trap::raise_program_signals(~self().signals.mask);
  uint64_t set = pending_in_kernel();
  set |= __atomic_load_n(&shared().signals.program_pending, __ATOMIC_ACQUIRE) & self().signals.mask;
  input::bytes(&set, sizeof set);
  return trap::to_program(call.a, &set, static_cast<uint64_t>(call.b));
}

// A siginfo as the program should see it: neither forwarding by the monitor shows, nor the process
// of the task that has sent it.
long give_info(long to, uint8_t* bytes, long signal) {
  auto* info = reinterpret_cast<siginfo_t*>(bytes);
  info->si_code = trap::original_code(info->si_code);
  if (info->si_code == SI_TIMER) {
    info->si_overrun = static_cast<int>(input::log_value(input::What::kReady, [=]() -> long {
      trap::take_overruns(*info);
      return info->si_overrun;
    }));
  }
  if (trap::has_sender(info->si_code)) info->si_pid = tasks::told(info->si_pid);
  return trap::to_program(to, bytes, 128) != 0 ? -EFAULT : signal;
}

// sigsuspend, pause, sigtimedwait: sleeps that only a signal ends.
long on_signal_sleep(Call& call) {
  uint64_t mask = 0;
  sys::Timespec time;
  const bool waits = call.number == SYS_rt_sigtimedwait;
  if (call.number != SYS_pause) {
    if ((waits ? call.d : call.b) != 8) return -EINVAL;
    if (const long wrong = trap::from_program(mask, call.a)) return wrong;
    if (!waits) mask &= ~sys::never_blocked();
    call.a = reinterpret_cast<long>(&mask);
  }
  if (waits && call.c) {
    if (const long wrong = trap::from_program(time, call.c)) return wrong;
    call.c = reinterpret_cast<long>(&time);
  }
  Task& task = self();
  const TurnScope turn(EventKind::kSyscall);
  note_written();
  if (waits) {
    alignas(8) uint8_t info[128];
    {
      SpinGuard guard(shared().signals.lock);
      task.signals.wait_set = mask;
      __atomic_store_n(&task.signals.wait_given, pending_in_kernel() & mask ? 1u : 0u,
                       __ATOMIC_RELEASE);
    }
    // Those to the task itself come first; they wait in the kernel.
    const auto take = [&]() -> long {
      return pending_in_kernel() & mask ? 0 : trap::take_program_signal(mask, info);
    };
    if (long signal = input::log_value(input::What::kReady, take)) {
      input::bytes(info, sizeof info);
      task.signals.wait_set = 0;
      if (call.b) signal = give_info(call.b, info, signal);
      return signal;
    }
  } else {
    trap::raise_program_signals(call.number == SYS_rt_sigsuspend ? ~mask : ~task.signals.mask);
  }
  const uint64_t before = task.signals.mask;
  if (call.number == SYS_rt_sigsuspend) task.signals.mask = mask;
  alignas(8) uint8_t info[128];
  const long info_at = call.b;
  if (waits && info_at) call.b = reinterpret_cast<long>(info);  // see descriptor.cc's invariant
  long result = sleep_in_kernel(call, "signal");
  if (waits && info_at && result > 0) result = give_info(info_at, info, result);
  if (call.number == SYS_rt_sigsuspend && result == -EINTR) {
    task.signals.wait_mask = mask;
    task.signals.has_wait_mask = 1;
  }
  task.signals.mask = before;
  task.signals.wait_set = 0;
  call.again = false;
  return result;
}

// As the program knows it.
int program_id() {
  const bool is_other = plan().has_processes() || input::is_on();
  return static_cast<int>(is_other ? shared().program.shown_pid : sys::raw(SYS_getpid));
}

void fill_info(siginfo_t* info, int signal, int code) {
  info->si_signo = signal;
  info->si_code = code;
  info->si_pid = program_id();
  info->si_uid = static_cast<uint32_t>(sys::raw(SYS_getuid));
}

// Order serial: so long at most a sender waits for its signal; it may be taken otherwise.
constexpr uint64_t kLongestNs = 500'000'000;
constexpr uint64_t kIsNoted = ~uint64_t{0};

uint64_t pending_of_all(int signal);
void await_own_signal(int signal, uint64_t pending_before);

// kill, rt_sigqueueinfo: to another process, a group, or the program itself.
long send_to_process(Call& call) {
  const int signal = static_cast<int>(call.b);
  alignas(8) uint8_t bytes[128] = {};
  auto* info = reinterpret_cast<siginfo_t*>(bytes);
  if (call.number == SYS_kill) {
    fill_info(info, signal, SI_USER);
  } else {
    if (const long wrong = trap::from_program(bytes, call.c, sizeof bytes)) return wrong;
    info->si_signo = signal;
  }
  begin_turn(EventKind::kSyscall);
  long result = 0;
  if (plan().has_processes() && call.a == shared().program.shown_pid && signal > 0 &&
      signal <= sys::kSignals) {
    result = trap::send_to_program(signal, info);
  }
  const bool is_own = plan().is_serial() && call.a == sys::raw(SYS_getpid);
  const uint64_t pending = is_own ? pending_of_all(signal) : 0;
  if (result == 0) {
    result = call_kernel(call);
    if (is_own && result == 0) await_own_signal(signal, pending);
  } else if (result > 0) {
    result = 0;
  }
  end_turn();
  return result;
}

// tkill, tgkill, rt_tgsigqueueinfo. The thread group of a task that is a process is that process;
// the program knows one group only, which it may name (0: it does not).
long send_to_task(Call& call, int group_named, int tid, int signal, long queued) {
  alignas(8) uint8_t bytes[128] = {};
  if (queued && trap::from_program(bytes, queued, sizeof bytes) != 0) return -EFAULT;
  begin_turn(EventKind::kSyscall);
  Task* target = tasks::find_by_virtual_tid(tid);
  long result = 0;
  if (!target) {
    result = plan().has_processes() && tid >= tasks::kVirtualTidBase ? -ESRCH : call_kernel(call);
  } else if (signal < 0 || signal > sys::kSignals) {
    result = -EINVAL;
  } else if (group_named && group_named != program_id() && !self().identity.in_vfork) {
    result = group_named < 0 ? -EINVAL : -ESRCH;
  } else if (signal != 0) {
    auto* info = reinterpret_cast<siginfo_t*>(bytes);
    if (!queued) fill_info(info, signal, SI_TKILL);
    info->si_signo = signal;
    const uint32_t pending = target->pending;
    const long sent = trap::send(*target, signal, info);
    if (sent < 0) result = sent;
    if (!sent) {
      const int to = tasks::kernel_tid(*target);
      const long group = plan().has_processes() ? to : sys::raw(SYS_getpid);
      result = input::log_value(input::What::kReady, [&] {
        return queued ? sys::raw(SYS_rt_tgsigqueueinfo, group, to, signal,
                                 reinterpret_cast<long>(bytes))
                      : sys::raw(SYS_tgkill, group, to, signal);
      });
      if (result == 0) await_signal(*target, signal, pending);
    }
  }
  end_turn();
  return result;
}

}  // namespace

bool is_signal_call_alone(long number) {
  return number == SYS_rt_sigaction || number == SYS_rt_sigprocmask || number == SYS_sigaltstack;
}

bool is_signal_call(long number) {
  switch (number) {
    case SYS_rt_sigaction:
    case SYS_rt_sigprocmask:
    case SYS_sigaltstack:
    case SYS_rt_sigsuspend:
    case SYS_rt_sigtimedwait:
    case SYS_pause:
    case SYS_kill:
    case SYS_tkill:
    case SYS_tgkill:
    case SYS_rt_tgsigqueueinfo:
    case SYS_rt_sigqueueinfo:
    case SYS_rt_sigpending: return true;
    default: return false;
  }
}

long on_signal_call(Call& call) {
  switch (call.number) {
    case SYS_rt_sigaction: return on_sigaction(call);
    case SYS_rt_sigprocmask: return on_sigprocmask(call);
    case SYS_sigaltstack: return on_sigaltstack(call);
    case SYS_rt_sigsuspend:
    case SYS_rt_sigtimedwait:
    case SYS_pause: return on_signal_sleep(call);
    case SYS_kill:
    case SYS_rt_sigqueueinfo: return send_to_process(call);
    case SYS_rt_sigpending: return on_sigpending(call);
    case SYS_tkill:
      return send_to_task(call, 0, static_cast<int>(call.a), static_cast<int>(call.b), 0);
    default: break;
  }
  // The kernel refuses group 0, too.
  const int group = static_cast<int>(call.a), tid = static_cast<int>(call.b);
  return send_to_task(call, group ? group : -1, tid, static_cast<int>(call.c),
                      call.number == SYS_tgkill ? 0 : call.d);
}

// --- Order serial: signals that the program sends itself. A schedule log is written before one
// that
//     ends the program. One for another task has come before the sender goes on, so that a run does
//     not depend on when the kernel brings it.

namespace {

bool ends_unless_blocked(int signal) {
  if (signal <= 0 || signal > sys::kSignals || trap::handled(signal)) return false;
  if (shared().signals.actions[signal].handler != nullptr) return signal == SIGKILL;
  constexpr uint64_t kStops = sys::signal_bit(SIGSTOP) | sys::signal_bit(SIGTSTP) |
                              sys::signal_bit(SIGTTIN) | sys::signal_bit(SIGTTOU);
  return !sys::is_ignored_by_default(signal) && !(sys::signal_bit(signal) & kStops);
}

bool is_deadly(int signal) {
  if (!ends_unless_blocked(signal)) return false;
  uint64_t mask = 0;
  sys::raw(SYS_rt_sigprocmask, SIG_BLOCK, 0, reinterpret_cast<long>(&mask), 8);
  return !(mask & sys::signal_bit(signal));
}

bool is_own_task(long tid) {
  return tid == self().identity.virtual_tid ||
         (g_tasks_active && tasks::find_by_virtual_tid(static_cast<int>(tid)) != nullptr);
}

}  // namespace

bool sends_signal(long number) {
  return number == SYS_kill || number == SYS_tkill || number == SYS_tgkill ||
         number == SYS_rt_sigqueueinfo || number == SYS_rt_tgsigqueueinfo;
}

void note_deadly(const Call& call) {
  Task& task = self();
  if (!sends_signal(call.number) || task.identity.in_vfork) return;
  const bool to_process = call.number == SYS_kill || call.number == SYS_rt_sigqueueinfo;
  const bool has_group = call.number == SYS_tgkill || call.number == SYS_rt_tgsigqueueinfo;
  const int signal = static_cast<int>(has_group ? call.c : call.b);
  const bool recorded = input::is_on();
  const long pid = recorded ? shared().program.shown_pid : sys::raw(SYS_getpid);
  const bool is_own = call.a == pid || (recorded && call.a == 0);
  if (to_process ? !is_own : !is_own_task(has_group ? call.b : call.a)) return;
  if (recorded && ends_unless_blocked(signal)) {
    recording::note_deadly(task, signal,
                           {task.frame ? task.frame->rip : 0, static_cast<uint64_t>(call.number)});
  }
  if (plan().is_serial() && is_deadly(signal)) order::serial::end(order::End::kSignal, signal);
}

namespace {

// It stands in a handler of the program's, which blocks the signal: it waits there for its turn,
// and the signal waits in the kernel until that handler returns.
bool sleeps_blocking(const Task& task, int signal) {
  char text[4096];
  const int tid = __atomic_load_n(&task.identity.tid, __ATOMIC_ACQUIRE);
  if (sys::failed(sys::read_thread_file(tid, "/status", text))) return false;
  const char* const state = sys::status_line(text, "State:\t");
  return state && *state == 'S' &&
         (sys::status_signals(text, "SigBlk:\t") & sys::signal_bit(signal));
}

// A second one is not queued.
bool is_noted(const Task& task, int signal) {
  for (uint32_t i = 0; signal < sys::kFirstRealTime && i < task.pending; i++)
    if (task.signals.pending_signals[i].signal == signal) return true;
  return false;
}

bool could_take(const Task& task, int signal) {
  return task.order.state != TaskState::kFree && !(task.signals.mask & sys::signal_bit(signal));
}

// Of all tasks; kIsNoted: one has the signal already.
uint64_t pending_of_all(int signal) {
  const Shared& s = shared();
  uint64_t sum = 0;
  for (TaskId i = 0; i < s.order.high_task; i++) {
    if (s.tasks[i].order.state == TaskState::kFree) continue;
    if (is_noted(s.tasks[i], signal)) return kIsNoted;
    sum += __atomic_load_n(&s.tasks[i].pending, __ATOMIC_ACQUIRE);
  }
  return sum;
}

void await_own_signal(int signal, uint64_t pending_before) {
  Shared& s = shared();
  bool is_taken = false;
  for (TaskId i = 0; i < s.order.high_task; i++) is_taken |= could_take(s.tasks[i], signal);
  if (!trap::handled(signal) || !is_taken || pending_before == kIsNoted || input::is_on()) return;
  const uint64_t begin = sys::monotonic_ns();
  while (pending_of_all(signal) == pending_before && sys::monotonic_ns() - begin < kLongestNs)
    sys::raw(SYS_sched_yield);
  for (TaskId i = 0; i < s.order.high_task; i++)
    if (s.tasks[i].pending) order::wake_task(s.tasks[i], EINTR);
}

}  // namespace

void await_signal(Task& target, int signal, uint32_t pending_before) {
  if (!plan().is_serial() || &target == &self() || !trap::handled(signal) ||
      target.order.state == TaskState::kOutside || (target.signals.mask & sys::signal_bit(signal)))
    return;
  const auto has_come = [&] {
    constexpr uint32_t kFew = 8;
    const uint64_t begin = sys::monotonic_ns();
    for (uint32_t i = 1; __atomic_load_n(&target.pending, __ATOMIC_ACQUIRE) == pending_before &&
                         !is_noted(target, signal) && sys::monotonic_ns() - begin < kLongestNs;
         i++) {
      if (i % kFew == 0 && sleeps_blocking(target, signal)) break;
      sys::raw(SYS_sched_yield);
    }
    return target.pending != 0;
  };
  if (input::is_on() ? input::log_value(input::What::kSignalCame, has_come) : has_come())
    order::wake_task(target, EINTR);
}

// The process is a program's that has tasks, and the signal has come to its monitor: it is the
// task's when that has passed it on. Natively a thread would have it before the sender goes on, and
// tell of it. A monitor handles all signals, which no program does.
void await_passed_on(const Call& call, long result) {
  if (result != 0 || (call.number != SYS_kill && call.number != SYS_rt_sigqueueinfo) ||
      call.a <= 0 || call.b <= 0 || call.a == program_id() || input::replaying())
    return;
  constexpr uint64_t kNever = sys::signal_bit(SIGKILL) | sys::signal_bit(SIGSTOP);
  constexpr uint64_t kOthers = kNever | sys::signal_bit(SIGCHLD);
  constexpr int kMostPauses = 2000;
  char name[32], text[4096];
  append_text(append_number(append_text(name, "/proc/"), static_cast<uint64_t>(call.a)), "/status");
  for (int pauses = 0; pauses < kMostPauses; pauses++) {
    if (sys::failed(sys::read_own_file(name, text)) ||
        (sys::status_signals(text, "SigCgt:\t") | kOthers) != ~uint64_t{0})
      return;
    const uint64_t waiting =
        sys::status_signals(text, "ShdPnd:\t") | sys::status_signals(text, "SigPnd:\t");
    // Between the queue and its handler it neither waits nor is anything blocked.
    const char* const state = sys::status_line(text, "State:\t");
    const bool is_busy = (state && *state == 'R') ||
                         (sys::status_signals(text, "SigBlk:\t") | kNever) == ~uint64_t{0};
    if (!is_busy && !(waiting & sys::signal_bit(static_cast<int>(call.b)))) return;
    const sys::Timespec pause{0, 20'000};
    sys::raw(SYS_nanosleep, reinterpret_cast<long>(&pause), 0);
  }
}

}  // namespace weir::syscalls
