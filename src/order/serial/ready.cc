#include "order/serial/ready.h"

#include "base/bytes.h"
#include "order/internal.h"
#include "order/serial/run.h"

namespace weir::order::serial {
namespace {

// So long a task is held up at most, while others sleep, in all of a run; each time counts for so
// long at least. Who looks every microsecond whether another has done something would starve it.
constexpr uint64_t kMostHeldUpNs = 2'000'000'000, kLeastHeldUpNs = 20'000'000;

// It could go on, but would only find that nothing has changed.
bool waits_in_loop(const Task& task) {
  const SpinWatch& spin = g_run.tracks[task.id].spin;
  return spin.waits() && !task.pending && !task.inbox_count && !spin.sees_change();
}

}  // namespace

bool has_ready(const Shared& s, const Task* other_than) {
  for (TaskId i = 0; i < s.order.high_task; i++) {
    const Task& task = s.tasks[i];
    const TaskState state = task.order.state;
    if ((state == TaskState::kArrived || state == TaskState::kRunning) && &task != other_than &&
        !waits_in_loop(task))
      return true;
  }
  return false;
}

uint32_t find_ready(const Shared& s, TaskId* ready) {
  const bool all = !has_ready(s);
  uint32_t count = 0;
  for (TaskId i = 0; i < s.order.high_task; i++) {
    const TaskState state = s.tasks[i].order.state;
    if (state != TaskState::kArrived && state != TaskState::kRunning) continue;
    if (!all && waits_in_loop(s.tasks[i])) continue;
    uint32_t at = count++;
    for (; at && g_run.tracks[ready[at - 1]].number > g_run.tracks[i].number; at--)
      ready[at] = ready[at - 1];
    ready[at] = i;
  }
  return count;
}

bool has_outside(const Shared& s) {
  for (TaskId i = 0; i < s.order.high_task; i++)
    if (s.tasks[i].order.state == TaskState::kOutside) return true;
  return false;
}

bool has_deadline(const Shared& s) {
  for (TaskId i = 0; i < s.order.high_task; i++)
    if (s.tasks[i].order.state == TaskState::kBlocked && s.tasks[i].order.deadline) return true;
  return false;
}

void wake_loops(const Shared& s) {
  for (TaskId i = 0; i < s.order.high_task; i++) {
    SpinWatch& spin = g_run.tracks[i].spin;
    if (spin.waits() && spin.sees_change()) spin.wake();
  }
}

uint32_t find_sleeping(const Shared& s, TaskId* sleeping) {
  uint32_t count = 0;
  if (g_run.jumped >= kMostHeldUpNs) return 0;
  const uint64_t until = s.order.virtual_now + kMostHeldUpNs - g_run.jumped;
  for (TaskId i = 0; i < s.order.high_task; i++) {
    const TaskOrder& order = s.tasks[i].order;
    if (order.state == TaskState::kBlocked && order.deadline && order.deadline <= until &&
        order.wait_what && equal_strings(order.wait_what, "sleep"))
      sleeping[count++] = i;
  }
  return count;
}

void hold_up_for(Shared& s, const Task& sleeper) {
  if (sleeper.order.deadline > s.order.virtual_now) {
    const uint64_t rest = sleeper.order.deadline - s.order.virtual_now;
    g_run.jumped += rest < kLeastHeldUpNs ? kLeastHeldUpNs : rest;
    s.order.virtual_now = sleeper.order.deadline;
  }
  expire(s);
}

}  // namespace weir::order::serial
