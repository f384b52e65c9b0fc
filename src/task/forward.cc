// The monitor has a handler for every signal that can have one. What the program's disposition says
// is then done by hand: ignore, stop all, end all, or pass on to a task that does not block it.
//
// One handler at a time: none interrupts another, and a monitor call (by a signal of higher number
// than SIGALRM) is done when the signals that came before it have been passed on.

#include "task/forward.h"

#include <signal.h>
#include <sys/wait.h>

#include "base/atomic_enum.h"
#include "base/bytes.h"
#include "check/core/check.h"
#include "control/control.h"
#include "order/waiting.h"
#include "signal/arrive.h"
#include "signal/forward.h"
#include "signal/queue.h"
#include "signal/signals.h"
#include "signal/timers.h"
#include "sys/futex.h"
#include "sys/maps.h"
#include "sys/signal.h"
#include "sys/syscall_x86_64.h"
#include "task/monitor_call.h"
#include "task/spawn.h"
#include "task/told_ids.h"

extern "C" char weir_sigreturn[];

namespace weir::tasks {

namespace {

int g_tick_timer = 0;
// Signals that were kept here: not those that a task has sent in its turn, which come at a place of
// the order (sigprocmask).
uint64_t g_kept = 0;

void set_handler(int signal, void* handler) {
  sys::KernelSigaction action{};
  action.handler = handler;
  action.flags = sys::kSaRestorer | SA_SIGINFO | SA_RESTART;
  action.restorer = weir_sigreturn;
  action.mask = ~uint64_t{0};
  sys::raw(SYS_rt_sigaction, signal, reinterpret_cast<long>(&action), 0, 8);
}

// The kernel keeps each task's mask; /proc has it.
bool blocks(int tid, int signal) {
  char path[40];
  append_text(append_number(append_text(path, "/proc/"), static_cast<uint64_t>(tid)), "/status");
  static char text[4096];
  if (sys::read_own_file(path, text) <= 0) return true;
  return sys::status_signals(text, "SigBlk:\t") & sys::signal_bit(signal);
}

// A task that sleeps has not yet told the kernel what others have installed meanwhile, and by what
// it has told it the signal might be dropped, or end the program.
void bring_up_to_date(const Task& target, int tid) {
  Shared& s = shared();
  const ProcessEntry& slot = s.processes.entries[target.identity.process];
  auto behind = [&] {
    return __atomic_load_n(&slot.mapping_sequence, __ATOMIC_ACQUIRE) !=
           __atomic_load_n(&s.mapping_log.sequence, __ATOMIC_ACQUIRE);
  };
  if (!behind()) return;
  __atomic_fetch_add(&s.mapping_log.catch_up, 1u, __ATOMIC_SEQ_CST);
  sys::raw(SYS_tkill, tid, sys::g_probe_signal);
  for (int i = 0; i < 1000 && behind(); i++) {  // a fork may keep it for a while
    const sys::Timespec pause{0, 50'000};
    sys::raw(SYS_nanosleep, reinterpret_cast<long>(&pause), 0);
  }
  __atomic_fetch_sub(&s.mapping_log.catch_up, 1u, __ATOMIC_SEQ_CST);
}

// One in the in-place process: its process blocks everything, and takes the signal when the task
// comes back (control/in_place_process.h).
bool lets_through(const Task& task, int signal) {
  for (int looks = 0; looks < 1000; looks++) {
    const uint32_t holds = __atomic_load_n(&task.in_place.mask_holds, __ATOMIC_SEQ_CST);
    if (holds == 2) return !(task.in_place.mask & sys::signal_bit(signal));
    if (holds == 0 && !blocks(task.identity.tid, signal)) return true;
    if (holds == 0 && __atomic_load_n(&task.in_place.mask_holds, __ATOMIC_SEQ_CST) == 0)
      return false;
    sys::raw(SYS_sched_yield);  // on its way
  }
  return false;
}

// The task that a signal to the program goes to, null where there is none now. One that waits for
// it by sigwait blocks it; one that lets it through is better, the first is as good as any.
Task* who_takes(int signal) {
  Shared& s = shared();
  // Without a handler it would be lost, or end the program, in a mask that is the runtime's.
  const bool may_let_through = !trap::is_kept_unhandled(signal);
  for (TaskId i = 0; may_let_through && i < s.order.high_task; i++) {
    Task& task = s.tasks[i];
    if (task.order.state != TaskState::kFree && task.identity.tid > 0 && lets_through(task, signal))
      return &task;
  }
  SpinGuard guard(s.signals.lock);
  for (TaskId i = 0; i < s.order.high_task; i++) {
    Task& task = s.tasks[i];
    if (task.order.state == TaskState::kFree ||
        !(task.signals.wait_set & sys::signal_bit(signal)) ||
        __atomic_load_n(&task.signals.wait_given, __ATOMIC_ACQUIRE))
      continue;
    return &task;
  }
  return s.signals.signalfd_mask & sys::signal_bit(signal) ? trap::signalfd_reader() : nullptr;
}

// By its own mask a task takes the signal: what blocks it is the runtime, for a moment.
bool is_about_to_take(int signal) {
  const Shared& s = shared();
  for (TaskId i = 0; i < s.order.high_task; i++) {
    const Task& task = s.tasks[i];
    if (task.order.state != TaskState::kFree && !task.signals.mask_in_doubt &&
        !(task.signals.mask & sys::signal_bit(signal)))
      return true;
  }
  return false;
}

// Who has sent it may tell the program so: it is a task's before that, if one can take it.
Task* who_takes_soon(int signal) {
  constexpr int kMostPauses = 100;
  Task* target = who_takes(signal);
  for (int i = 0; i < kMostPauses && !target && is_about_to_take(signal); i++) {
    const sys::Timespec pause{0, 20'000};
    sys::raw(SYS_nanosleep, reinterpret_cast<long>(&pause), 0);
    target = who_takes(signal);
  }
  return target;
}

// A task that has just been made has an id of the kernel's when its process has come so far, and 0
// where it could not be made.
int tid_soon(const Task& task) {
  for (;;) {
    const int tid = __atomic_load_n(&task.identity.tid, __ATOMIC_ACQUIRE);
    if (tid || load_enum<__ATOMIC_ACQUIRE>(task.order.state) == TaskState::kFree) return tid;
    sys::raw(SYS_sched_yield);
  }
}

// To the task's process, as it was to the program, unless it is for the one task only. 0 or
// -errno. One that waits by sigwait has its signal then: the next goes to another.
long send_to(Task& target, int signal, const void* info, bool to_task = false) {
  const int tid = tid_soon(target);
  const bool is_waited_for = !to_task && (target.signals.wait_set & sys::signal_bit(signal));
  if (is_waited_for) __atomic_store_n(&target.signals.wait_given, 1u, __ATOMIC_RELEASE);
  bring_up_to_date(target, tid);
  const long result =
      to_task ? sys::raw(SYS_rt_tgsigqueueinfo, tid, tid, signal, reinterpret_cast<long>(info))
              : sys::raw(SYS_rt_sigqueueinfo, tid, signal, reinterpret_cast<long>(info));
  // It takes the signal when it is in its own process again: after the call that it makes now.
  if (__atomic_load_n(&target.in_place.mask_holds, __ATOMIC_SEQ_CST) != 0)
    __atomic_store_n(&target.in_place.wanted_back, 1u, __ATOMIC_RELEASE);
  if (is_waited_for && result != 0)
    __atomic_store_n(&target.signals.wait_given, 0u, __ATOMIC_RELEASE);
  return result;
}

// Nobody could make the program go on: its parent is of another session, and the kernel would not
// stop it.
bool is_orphaned() {
  const long parent = sys::raw(SYS_getppid);
  return sys::raw(SYS_getsid, parent) != sys::raw(SYS_getsid, 0);
}

void stop_program() {
  const Shared& s = shared();
  if (is_orphaned()) return;
  for (uint32_t p = 0; p < s.processes.high; p++) {
    if (s.processes.entries[p].pid > 0) sys::raw(SYS_kill, s.processes.entries[p].pid, SIGSTOP);
  }
  sys::raw(SYS_kill, sys::raw(SYS_getpid), SIGSTOP);
}

// A task may have let the signal through just when it was kept, and a mask that the runtime sets
// for a moment looks like one of the program's: so it is offered again.
void pass_on_kept(int signal) {
  const uint64_t bit = sys::signal_bit(signal);
  if (!(__atomic_load_n(&shared().signals.program_pending, __ATOMIC_ACQUIRE) & bit)) {
    g_kept &= ~bit;
    return;
  }
  if (trap::stops_program(signal) && !trap::is_kept_unhandled(signal)) {
    trap::drop_program_signals(signal);
    return stop_program();  // not a task's process alone
  }
  alignas(8) uint8_t info[128];
  while (Task* const target = who_takes(signal)) {
    if (!trap::begin_raising(bit, info)) return;
    const trap::Forwarded forwarded(info);
    auto passed = *reinterpret_cast<const siginfo_t*>(info);
    passed.si_code = trap::original_code(passed.si_code);
    trap::note_passed_on(passed, tid_soon(*target));
    const bool is_sent = send_to(*target, signal, forwarded.bytes) == 0;
    if (!is_sent) trap::keep_again(signal, forwarded.bytes);  // no room, or the target has ended
    trap::end_raising(signal);
    if (!is_sent) return;
  }
}

// Who has stopped goes on. `told` has what the program's handler is to see: before this, as one
// SIGCONT that waits stands for all.
void continue_tasks(const Task* told) {
  const Shared& s = shared();
  siginfo_t info{};
  info.si_signo = SIGCONT;
  info.si_code = trap::kContinuesOnly;
  for (uint32_t p = 0; p < s.processes.high; p++) {
    const int pid = s.processes.entries[p].pid;
    if (pid <= 0 || (told && told->identity.tid == pid)) continue;
    sys::raw(SYS_rt_tgsigqueueinfo, pid, pid, SIGCONT, reinterpret_cast<long>(&info));
  }
}

// A task that sends to its own program is the program, whoever reads of it, and whenever.
void show_sender(siginfo_t& info, int code) {
  if (trap::has_sender(code)) info.si_pid = shown_process(info.si_pid);
}

void pass_on(int signal, const siginfo_t* info) {
  Shared& s = shared();
  const auto handler = reinterpret_cast<uint64_t>(s.signals.actions[signal].handler);
  const bool is_kept = trap::is_kept_unhandled(signal);
  if (signal == SIGCONT) {  // of those that wait to stop the program none is left
    constexpr int kStops[] = {SIGTSTP, SIGTTIN, SIGTTOU};
    for (const int stop : kStops) trap::drop_program_signals(stop);
  }
  if (signal == SIGCONT && handler == 1) continue_tasks(nullptr);
  if (handler == 1 && !is_kept) return;
  if (handler == 0) {
    if (trap::stops_program(signal) && !is_kept) return stop_program();
    if (signal == SIGCONT) {
      for (uint32_t p = 0; p < s.processes.high; p++) {
        if (s.processes.entries[p].pid > 0) sys::raw(SYS_kill, s.processes.entries[p].pid, SIGCONT);
      }
      if (!is_kept) return;
    }
    if (sys::is_ignored_by_default(signal) && !is_kept) return;
  }
  if (trap::is_overrun(*info)) return;
  trap::Forwarded forwarded(info);
  show_sender(*reinterpret_cast<siginfo_t*>(forwarded.bytes), info->si_code);
  if (g_kept & sys::signal_bit(signal)) pass_on_kept(signal);  // they came before
  Task* target = nullptr;
  const int tid = trap::timer_target(*info);
  const bool is_for_task = tid != 0;
  if (is_for_task) {
    target = find_by_virtual_tid(tid);
    if (!target) return;
  }
  const uint64_t bit = sys::signal_bit(signal);
  trap::note_passed_on(*info, 0);  // before a task can have it
  if (!target && trap::keep_behind(signal, forwarded.bytes, g_kept & bit)) {
    g_kept |= bit;
  } else if (!target && !(target = who_takes_soon(signal))) {
    g_kept |= bit;  // waits until a task lets it through or waits for it
    trap::keep_program_signal(signal, forwarded.bytes);
  } else {
    trap::note_passed_on(*info, tid_soon(*target));
    long result = send_to(*target, signal, forwarded.bytes, is_for_task);
    if (result != 0 && !is_for_task) {  // the kernel's queue has no room
      g_kept |= bit;
      trap::keep_again(signal, forwarded.bytes);
    }
    // A timer has one signal at a time, and room for it natively.
    constexpr int kMostPauses = 1000;
    for (int i = 0; i < kMostPauses && result == -EAGAIN && is_for_task; i++) {
      const sys::Timespec pause{0, 50'000};
      sys::raw(SYS_nanosleep, reinterpret_cast<long>(&pause), 0);
      result = send_to(*target, signal, forwarded.bytes, true);
    }
  }
  if (signal == SIGCONT) continue_tasks(target);
}

void pass_on_all_kept() {
  for (uint64_t waiting = g_kept; waiting; waiting &= waiting - 1)
    pass_on_kept(__builtin_ctzll(waiting) + 1);
}

// Not ITIMER_REAL: that is the program's, as all timers in the monitor but this one are
// (syscall/timer.cc). No timer of this kind outlives execve.
void start_ticks() {
  constexpr int kClockMonotonic = 1;
  const int32_t event[16] = {0, 0, sys::g_probe_signal, SIGEV_SIGNAL};
  const int64_t every[4] = {0, static_cast<int64_t>(order::kTickNs), 0,
                            static_cast<int64_t>(order::kTickNs)};
  if (sys::raw(SYS_timer_create, kClockMonotonic, reinterpret_cast<long>(event),
               reinterpret_cast<long>(&g_tick_timer)) != 0)
    return;
  sys::raw(SYS_timer_settime, g_tick_timer, 0, reinterpret_cast<long>(every), 0);
}

// A timer that is stopped or deleted sends nothing more; what it has sent is on its way before the
// task that asks goes on. The kernel hands over the lowest number first, which the monitor call
// has.
void pass_on_of_timers() {
  const uint64_t set = ~(sys::signal_bit(sys::kFirstRealTime) - 1);
  const sys::Timespec none{0, 0};
  siginfo_t info;
  for (;;) {
    const long signal = sys::raw(SYS_rt_sigtimedwait, reinterpret_cast<long>(&set),
                                 reinterpret_cast<long>(&info), reinterpret_cast<long>(&none), 8);
    if (signal <= 0) break;
    pass_on(static_cast<int>(signal), &info);
  }
}

void on_monitor_signal(int signal, siginfo_t* info, void* context) {
  if (info->si_code > 0 && sys::is_own_end(signal))  // the monitor's own fault
    return trap::on_signal(signal, info, context);
  const bool ours = signal == sys::g_probe_signal;
  // One pending signal may stand for a monitor call and a tick: a monitor call is looked for first,
  // whatever the signal says.
  const long asked = ours ? asked_of_monitor() : -1;
  if (asked == SYS_timer_settime || asked == SYS_timer_delete) pass_on_of_timers();
  if (ours && make_monitor_call()) return;
  if (ours && info->si_code == SI_TIMER) {
    order::tick();
    if (plan().memory == Plan::Memory::kChecked) view::checked::tick();
    pass_on_all_kept();
    return;
  }
  pass_on(signal, info);
}

}  // namespace

void forward_signals() {
  for (int signal = 1; signal <= sys::kSignals; signal++) {
    if (signal == SIGKILL || signal == SIGSTOP || signal == SIGCHLD) continue;
    set_handler(signal, reinterpret_cast<void*>(&on_monitor_signal));
  }
  sys::KernelSigaction plain{};
  sys::raw(SYS_rt_sigaction, SIGCHLD, reinterpret_cast<long>(&plain), 0, 8);
  start_ticks();
  uint64_t mask = 0;
  sys::raw(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<long>(&mask), 0, 8);
}

void stop_ticks() {
  sys::raw(SYS_timer_delete, g_tick_timer);
  sys::KernelSigaction ignore{};
  ignore.handler = reinterpret_cast<void*>(SIG_IGN);
  sys::raw(SYS_rt_sigaction, sys::g_probe_signal, reinterpret_cast<long>(&ignore), 0,
           8);  // what is pending goes with it
}

void describe_child(int status, int& code, int& value) {
  if (WIFEXITED(status)) {
    code = CLD_EXITED;
    value = WEXITSTATUS(status);
  } else if (WIFSIGNALED(status)) {
    code = WCOREDUMP(status) ? CLD_DUMPED : CLD_KILLED;
    value = WTERMSIG(status);
  } else {
    code = status == kContinued ? CLD_CONTINUED : CLD_STOPPED;
    value = status == kContinued ? SIGCONT : WSTOPSIG(status);
  }
}

void forward_child(int signal, int pid, uint32_t user, int status) {
  const sys::KernelSigaction& action = shared().signals.actions[signal];
  const bool ended = WIFEXITED(status) || WIFSIGNALED(status);
  if (!ended && (action.flags & SA_NOCLDSTOP)) return;
  if (signal == SIGCHLD && reinterpret_cast<uint64_t>(action.handler) < 2) {
    bool waited = trap::is_kept_unhandled(SIGCHLD);
    for (TaskId i = 0; i < shared().order.high_task; i++)
      waited |= (shared().tasks[i].signals.wait_set & sys::signal_bit(SIGCHLD)) != 0;
    if (!waited) return;
  }
  siginfo_t info{};
  info.si_signo = signal;
  info.si_pid = pid;
  info.si_uid = user;
  describe_child(status, info.si_code, info.si_status);
  pass_on(signal, &info);
}

}  // namespace weir::tasks
