#include "trap/recorded_signals.h"

#include "base/bytes.h"
#include "event/input.h"
#include "sys/syscall_x86_64.h"
#include "task/shared.h"
#include "trap/raised_again.h"
#include "trap/signals.h"

namespace weir::trap {

bool waits_for_event(siginfo_t* info) {
  if (info->si_errno != kRaisedAgain) return true;
  info->si_errno = 0;
  return false;
}

void take_recorded_signals(Task& task) {
  alignas(8) uint8_t info[128];
  int signal = input::take_signal(task, info);
  if (!signal) return;
  task.pending = 0;  // what other tasks sent is kept too
  do {
    note_pending(task, signal, reinterpret_cast<const siginfo_t*>(info));
  } while ((signal = input::take_signal(task, info)));
}

void settle_pending(Task& task) {
  const uint64_t all = ~uint64_t{0};
  sys::raw(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<long>(&all), reinterpret_cast<long>(&task.deliver_mask), 8);
  if (!input::recording()) return;
  take_queued(task, (task.has_wait_mask ? task.wait_mask : task.deliver_mask) & ~sys::kNeverBlocked);
  for (uint32_t i = 0; i < task.pending; i++) input::keep_signal(task, task.pending_signals[i].signal, task.pending_signals[i].info);
}

}  // namespace weir::trap
