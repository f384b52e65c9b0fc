// Order serial: signals that the program sends itself. A schedule log is written before one that
// ends the program; one for another task has come before the sender goes on, so that a run does not
// depend on when the kernel brings it.

#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>

#include "control/control.h"
#include "control/process.h"
#include "order/serial/serial.h"
#include "order/waiting.h"
#include "signal/arrive.h"
#include "signal/signals.h"
#include "sys/futex.h"
#include "syscall/syscall.h"
#include "task/spawn.h"

namespace weir::syscalls {

namespace {

bool is_deadly(int signal) {
  if (signal <= 0 || signal > sys::kSignals || trap::handled(signal)) return false;
  if (shared().signals.actions[signal].handler != nullptr) return signal == SIGKILL;
  constexpr uint64_t kHarmless = sys::signal_bit(SIGCHLD) | sys::signal_bit(SIGCONT) |
                                 sys::signal_bit(SIGURG) | sys::signal_bit(SIGWINCH) |
                                 sys::signal_bit(SIGSTOP) | sys::signal_bit(SIGTSTP) |
                                 sys::signal_bit(SIGTTIN) | sys::signal_bit(SIGTTOU);
  if (sys::signal_bit(signal) & kHarmless) return false;
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
  if (!sends_signal(call.number) || self().identity.in_vfork) return;
  const bool to_process = call.number == SYS_kill || call.number == SYS_rt_sigqueueinfo;
  const bool has_group = call.number == SYS_tgkill || call.number == SYS_rt_tgsigqueueinfo;
  const int signal = static_cast<int>(has_group ? call.c : call.b);
  if (to_process ? call.a != sys::raw(SYS_getpid) : !is_own_task(has_group ? call.b : call.a))
    return;
  if (is_deadly(signal)) order::serial::end(order::End::kSignal, signal);
}

void await_signal(Task& target, int signal, uint32_t pending_before) {
  constexpr uint64_t kLongest = 2'000'000;  // nanoseconds: it may be taken otherwise
  if (!plan().is_serial() || &target == &self() || !trap::handled(signal) ||
      target.order.state == TaskState::kOutside || (target.signals.mask & sys::signal_bit(signal)))
    return;
  const uint64_t begin = sys::monotonic_ns();
  while (__atomic_load_n(&target.pending, __ATOMIC_ACQUIRE) == pending_before &&
         sys::monotonic_ns() - begin < kLongest)
    sys::raw(SYS_sched_yield);
  if (target.pending != pending_before) order::wake_task(target, EINTR);
}

}  // namespace weir::syscalls
