#include "check/core/check.h"
#include "check/core/happens_before.h"
#include "control/process.h"
#include "signal/signals.h"
#include "sys/syscall_x86_64.h"

namespace weir::trap {

namespace {

constexpr uint32_t kMax = sizeof(TaskSignals::handlers) / sizeof(uint64_t);

}  // namespace

void note_handler(Task& task, uint64_t frame, int signal) {
  happens::acquire(happens::kSignals);
  is_in_handler(task, frame + 8);  // those that have returned go, also one that had this frame
  task.signals.mask_in_doubt = 1;
  if (task.signals.handler_count < kMax) task.signals.handlers[task.signals.handler_count] = frame;
  if (!task.signals.handler_count) task.signals.handler_signal = signal;
  if (task.signals.handler_count <= kMax) task.signals.handler_count++;
  if (!happens::g_checked || happens::g_replayed) return;
  if (happens::g_serial) view::checked::serial::give_up();
  else view::checked::pin(task, frame);
}

// A handler's stack grows down from its frame; when it has returned, the stack is elsewhere, or
// back above.
bool is_in_handler(Task& task, uint64_t rsp) {
  constexpr uint64_t kLargeStack = uint64_t{1} << 30;
  if (task.signals.handler_count > kMax) {  // too many at once to know, until that one has returned
    if (task.signals.handlers[kMax - 1] - rsp < kLargeStack) return true;
    task.signals.handler_count = kMax;
  }
  while (task.signals.handler_count &&
         task.signals.handlers[task.signals.handler_count - 1] - rsp >= kLargeStack)
    task.signals.handler_count--;
  return task.signals.handler_count;
}

bool mask_after_handlers(Task& task) {
  if (!task.signals.mask_in_doubt || !task.frame || runtime::g_is_in_place_process) return false;
  // Handlers of the runtime's own, and the way out of it, block all for a while.
  if (!on_runtime_stack(task, reinterpret_cast<uint64_t>(__builtin_frame_address(0))) ||
      is_in_handler(task, task.frame->rsp))
    return false;
  task.signals.mask_in_doubt = 0;
  uint64_t mask = 0;
  sys::raw(SYS_rt_sigprocmask, SIG_BLOCK, 0, reinterpret_cast<long>(&mask), 8);
  task.signals.mask = mask | (task.signals.mask & sys::never_blocked());
  return true;
}

uint64_t frame_above(const Task& task, uint64_t rsp) {
  uint64_t lowest = ~uint64_t{0};
  for (uint32_t i = 0; i < task.signals.handler_count && i < kMax; i++) {
    if (task.signals.handlers[i] >= rsp && task.signals.handlers[i] < lowest)
      lowest = task.signals.handlers[i];
  }
  return lowest;
}

}  // namespace weir::trap
