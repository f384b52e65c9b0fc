// One monitor call at a time, since its sender has the turn. The monitor sleeps in wait4; a signal
// brings it here, and the sender sleeps on the monitor call's state until the answer is there.

#include "task/monitor_call.h"

#include "control/control.h"
#include "record/input.h"
#include "sys/futex.h"
#include "sys/syscall_x86_64.h"

namespace weir::tasks {

namespace {

constexpr uint32_t kIdle = 0, kAsked = 1;

}  // namespace

namespace {

long send(long number, long a, long b, long c, long d) {
  Shared& s = shared();
  auto& monitor_call = s.monitor_call;
  const long arguments[4] = {a, b, c, d};
  monitor_call.number = number;
  for (int i = 0; i < 4; i++) monitor_call.arguments[i] = arguments[i];
  __atomic_store_n(&monitor_call.state, kAsked,
                   __ATOMIC_RELEASE);  // release: with the call and what its pointers lead to
  sys::raw(SYS_tgkill, s.program.monitor, s.program.monitor, sys::g_probe_signal);
  while (__atomic_load_n(&monitor_call.state, __ATOMIC_ACQUIRE) != kIdle)
    sys::futex_wait(&monitor_call.state, kAsked);
  return monitor_call.result;
}

}  // namespace

// Replaying, no timer runs and no group changes: what the monitor answered is enough.
long call_in_monitor(long number, long a, long b, long c, long d) {
  const long result =
      input::log_value(input::What::kMonitorCall, [=] { return send(number, a, b, c, d); });
  if (input::is_on())
    input::bytes(shared().monitor_call.answer, sizeof shared().monitor_call.answer);
  return result;
}

long asked_of_monitor() {
  const auto& monitor_call = shared().monitor_call;
  return __atomic_load_n(&monitor_call.state, __ATOMIC_ACQUIRE) == kAsked ? monitor_call.number
                                                                          : -1;
}

bool make_monitor_call() {
  auto& monitor_call = shared().monitor_call;
  if (__atomic_load_n(&monitor_call.state, __ATOMIC_ACQUIRE) != kAsked) return false;
  monitor_call.result =
      sys::raw(monitor_call.number, monitor_call.arguments[0], monitor_call.arguments[1],
               monitor_call.arguments[2], monitor_call.arguments[3]);
  __atomic_store_n(&monitor_call.state, kIdle, __ATOMIC_RELEASE);
  sys::futex_wake(&monitor_call.state);
  return true;
}

}  // namespace weir::tasks
