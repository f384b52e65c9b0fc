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
#include "trap/forward.h"
#include "trap/signals.h"

namespace weir::syscalls {

namespace {

long on_sigaction(Call& call) {
  auto* action = reinterpret_cast<const sys::KernelSigaction*>(call.b);
  auto* old = reinterpret_cast<sys::KernelSigaction*>(call.c);
  if (call.d != 8) return -EINVAL;
  if (!action) return trap::sigaction(static_cast<int>(call.a), nullptr, old);
  begin_turn(EventKind::kSyscall);
  if (old) note_written();
  long result = trap::sigaction(static_cast<int>(call.a), action, old);
  if (result == 0) runtime::record_mapping({MappingKind::kSigaction, static_cast<int>(call.a), 0, -1, 0, 0, 0, 0, 0});
  end_turn();
  return result;
}

// Signals to the whole program that waited for a task with this open set come to this one.
void raise_program_signals(uint64_t open_set) {
  alignas(8) uint8_t info[128];
  while (int signal = trap::take_program_signal(open_set, info)) {
    sys::raw(SYS_rt_tgsigqueueinfo, sys::raw(SYS_getpid), sys::raw(SYS_gettid), signal, reinterpret_cast<long>(info));
  }
}

long on_sigprocmask(Call& call) {
  uint64_t mask = 0;
  if (call.b) {
    copy_bytes(&mask, reinterpret_cast<void*>(call.b), 8);
    if (call.a != SIG_UNBLOCK) mask &= ~sys::kNeverBlocked;
  }
  long result = sys::raw(SYS_rt_sigprocmask, call.a, call.b ? reinterpret_cast<long>(&mask) : 0, call.c, call.d);
  sys::raw(SYS_rt_sigprocmask, SIG_BLOCK, 0, reinterpret_cast<long>(&self().signal_mask), 8);
  raise_program_signals(~self().signal_mask);
  return result;
}

// A siginfo as the program should see it: forwarding by the monitor does not show.
void give_info(long to, uint8_t* bytes) {
  auto* info = reinterpret_cast<siginfo_t*>(bytes);
  info->si_code = trap::original_code(info->si_code);
  copy_bytes(reinterpret_cast<void*>(to), bytes, 128);
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
  note_written();
  if (call.number == SYS_rt_sigtimedwait) {
    alignas(8) uint8_t info[128];
    {
      SpinGuard guard(shared().signal_lock);
      task.signal_wait = mask;
    }
    if (int signal = trap::take_program_signal(mask, info)) {
      task.signal_wait = 0;
      if (call.b) give_info(call.b, info);
      end_turn();
      return signal;
    }
  } else {
    raise_program_signals(call.number == SYS_rt_sigsuspend ? ~mask : ~task.signal_mask);
  }
  const uint64_t before = task.signal_mask;
  if (call.number == SYS_rt_sigsuspend) task.signal_mask = mask;
  alignas(8) uint8_t info[128];
  const long info_at = call.b;
  if (call.number == SYS_rt_sigtimedwait && info_at) call.b = reinterpret_cast<long>(info);  // see descriptor.cc's invariant
  long result = sleep_in_kernel(call, "signal");
  if (call.number == SYS_rt_sigtimedwait && info_at && result > 0) give_info(info_at, info);
  if (call.number == SYS_rt_sigsuspend && result == -EINTR) {
    task.wait_mask = mask;
    task.has_wait_mask = 1;
  }
  task.signal_mask = before;
  task.signal_wait = 0;
  end_turn();
  call.again = false;
  return result;
}

// tkill, tgkill, rt_tgsigqueueinfo. The thread group of a task that is a process is that process.
long send_to_task(Call& call, int tid, int signal, const siginfo_t* queued) {
  begin_turn(EventKind::kSyscall);
  Task* target = tasks::find_by_virtual_tid(tid);
  long result = 0;
  if (!target) {
    result = runtime::g_isolated && tid >= tasks::kVirtualTidBase ? -ESRCH : call_kernel(call);
  } else if (signal < 0 || signal > sys::kSignals) {
    result = -EINVAL;
  } else if (signal != 0) {
    alignas(8) uint8_t bytes[128] = {};
    auto* info = reinterpret_cast<siginfo_t*>(bytes);
    if (queued) {
      copy_bytes(bytes, queued, sizeof bytes);
    } else {
      info->si_code = SI_TKILL;
      info->si_pid = static_cast<int>(runtime::g_isolated ? shared().monitor : sys::raw(SYS_getpid));
      info->si_uid = static_cast<uint32_t>(sys::raw(SYS_getuid));
    }
    info->si_signo = signal;
    if (!trap::send(*target, signal, info)) {
      const long group = runtime::g_isolated ? target->tid : sys::raw(SYS_getpid);
      result = queued ? sys::raw(SYS_rt_tgsigqueueinfo, group, target->tid, signal, reinterpret_cast<long>(bytes))
                      : sys::raw(SYS_tgkill, group, target->tid, signal);
    }
  }
  end_turn();
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
    case SYS_tkill: return send_to_task(call, static_cast<int>(call.a), static_cast<int>(call.b), nullptr);
    case SYS_tgkill: return send_to_task(call, static_cast<int>(call.b), static_cast<int>(call.c), nullptr);
    default:
      return send_to_task(call, static_cast<int>(call.b), static_cast<int>(call.c), reinterpret_cast<const siginfo_t*>(call.d));
  }
}

}  // namespace weir::syscalls
