// The program's signal calls while tasks exist.

#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>

#include "base/bytes.h"
#include "event/event.h"
#include "runtime/mappings.h"
#include "runtime/state.h"
#include "sys/signal.h"
#include "sys/syscall_x86_64.h"
#include "syscall/syscall.h"
#include "task/process.h"
#include "task/shared.h"
#include "trap/signals.h"

namespace weir::syscalls {

namespace {

long on_sigaction(Call& call) {
  auto* action = reinterpret_cast<const sys::KernelSigaction*>(call.b);
  auto* old = reinterpret_cast<sys::KernelSigaction*>(call.c);
  if (call.d != 8) return -EINVAL;
  if (!action) return trap::sigaction(static_cast<int>(call.a), nullptr, old);
  begin_turn(EventKind::kSyscall);
  long result = trap::sigaction(static_cast<int>(call.a), action, old);
  if (result == 0) runtime::record_mapping({MappingKind::kSigaction, static_cast<int>(call.a), 0, -1, 0, 0, 0, 0, 0});
  end_turn();
  return result;
}

long on_sigprocmask(Call& call) {
  uint64_t mask = 0;
  if (call.b) {
    copy_bytes(&mask, reinterpret_cast<void*>(call.b), 8);
    if (call.a != SIG_UNBLOCK) mask &= ~sys::kNeverBlocked;
  }
  return sys::raw(SYS_rt_sigprocmask, call.a, call.b ? reinterpret_cast<long>(&mask) : 0, call.c, call.d);
}

// sigsuspend, pause, sigtimedwait: sleeps that only a signal ends.
long on_signal_sleep(Call& call) {
  uint64_t mask = 0;
  if (call.a && call.number != SYS_pause) {
    copy_bytes(&mask, reinterpret_cast<void*>(call.a), 8);
    if (call.number == SYS_rt_sigsuspend) {
      mask &= ~sys::kNeverBlocked;
      call.a = reinterpret_cast<long>(&mask);
    }
  }
  Task& task = self();
  begin_turn(EventKind::kSyscall);
  if (call.number == SYS_rt_sigtimedwait) task.signal_wait = mask;
  long result = sleep_in_kernel(call, "signal");
  task.signal_wait = 0;
  end_turn();
  call.again = false;
  return result;
}

}  // namespace

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
      return true;
    default:
      return false;
  }
}

long on_signal_call(Call& call) {
  const bool processes = runtime::g_isolated;
  switch (call.number) {
    case SYS_rt_sigaction: return on_sigaction(call);
    case SYS_rt_sigprocmask: return on_sigprocmask(call);
    case SYS_sigaltstack:
      return trap::sigaltstack(reinterpret_cast<const uint64_t*>(call.a), reinterpret_cast<uint64_t*>(call.b));
    case SYS_rt_sigsuspend:
    case SYS_rt_sigtimedwait:
    case SYS_pause: return on_signal_sleep(call);
    case SYS_kill: {
      begin_turn(EventKind::kSyscall);
      long result = call_kernel(call);
      end_turn();
      return result;
    }
    case SYS_tkill: {
      begin_turn(EventKind::kSyscall);
      long result = sys::raw(SYS_tkill, tasks::real_tid(static_cast<int>(call.a)), call.b);
      end_turn();
      return result;
    }
    default: {  // tgkill, rt_tgsigqueueinfo: the thread group of a task that is a process is itself
      const int tid = static_cast<int>(call.b);
      Task* target = tasks::find_by_virtual_tid(tid);
      if (!target) return call_kernel(call);
      const long group = processes ? target->tid : call.a;
      begin_turn(EventKind::kSyscall);
      long result = sys::raw(call.number, group, target->tid, call.c, call.d);
      end_turn();
      return result;
    }
  }
}

}  // namespace weir::syscalls
