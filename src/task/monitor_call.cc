// One errand at a time, since its sender has the turn. The monitor sleeps in wait4; a signal brings
// it here, and the sender sleeps on the errand's state until the answer is there.

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
  auto& errand = s.monitor_call;
  const long arguments[4] = {a, b, c, d};
  errand.number = number;
  for (int i = 0; i < 4; i++) errand.arguments[i] = arguments[i];
  __atomic_store_n(&errand.state, kAsked,
                   __ATOMIC_RELEASE);  // release: with the call and what its pointers lead to
  sys::raw(SYS_tgkill, s.program.monitor, s.program.monitor, sys::g_probe_signal);
  while (__atomic_load_n(&errand.state, __ATOMIC_ACQUIRE) != kIdle)
    sys::futex_wait(&errand.state, kAsked);
  return errand.result;
}

}  // namespace

// Replaying, no timer runs and no group changes: what the monitor answered is enough.
long send_errand(long number, long a, long b, long c, long d) {
  const long result = input::value(input::What::kErrand, [=] { return send(number, a, b, c, d); });
  if (input::is_on())
    input::bytes(shared().monitor_call.answer, sizeof shared().monitor_call.answer);
  return result;
}

bool do_errand() {
  auto& errand = shared().monitor_call;
  if (__atomic_load_n(&errand.state, __ATOMIC_ACQUIRE) != kAsked) return false;
  errand.result = sys::raw(errand.number, errand.arguments[0], errand.arguments[1],
                           errand.arguments[2], errand.arguments[3]);
  __atomic_store_n(&errand.state, kIdle, __ATOMIC_RELEASE);
  sys::futex_wake(&errand.state);
  return true;
}

}  // namespace weir::tasks
