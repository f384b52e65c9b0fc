// A phase that ends is added to the run's floor.

#include "control/phase_timer.h"

#include <time.h>

#include "control/control.h"
#include "control/process.h"
#include "sys/futex.h"

namespace weir::floor {

namespace {

void add(uint64_t& sum, uint64_t ns) { __atomic_fetch_add(&sum, ns, __ATOMIC_RELAXED); }

bool others_could_run(const Shared& s, const Task& task) {
  for (TaskId i = 0; i < s.order.high_task; i++) {
    const TaskState state = s.tasks[i].order.state;
    if (i != task.id && (state == TaskState::kArrived || state == TaskState::kServed ||
                         state == TaskState::kReady || state == TaskState::kRunning))
      return true;
  }
  return false;
}

}  // namespace

void end_phase(Task& task, Phase phase) {
  if (!plan().is_isolated()) return;  // the clock is a system call, and events are cheap there
  Shared& s = shared();
  TaskFloor& own = task.spent.floor;
  const uint64_t now = sys::monotonic_ns(CLOCK_THREAD_CPUTIME_ID);
  const bool moved = own.in_place != runtime::g_is_in_place_process;
  const uint64_t ns = own.since && !moved && now > own.since ? now - own.since : 0;
  own.since = now;
  own.in_place = runtime::g_is_in_place_process;
  if (phase == Phase::kWaiting || phase == Phase::kResuming || phase == Phase::kBlocked ||
      phase == Phase::kOutside)
    return;
  Floor& all = s.spent.floor;
  const bool has_turn = s.order.turn == task.id;
  go_on(s.spent.floor, own, ns, has_turn);
  const bool is_code = phase == Phase::kProgram || phase == Phase::kSection;
  if (is_code) add(all.own, ns);
  if (!has_turn) {
    own.beside += ns;
    own.all += ns;
    add(all.beside, ns);
    return;
  }
  if (!is_code) {
    add(all.turn, ns);
    return;
  }
  own.kept += ns;
  own.all += ns;
  add(all.kept, ns);
  if (others_could_run(s, task)) add(all.kept_beside, ns);
}

void wake_task(Task& waker, Task& task) {
  end_phase(waker, waker.spent.phase);  // what it has done so far
  TaskFloor& own = task.spent.floor;
  if (own.by_waits < waker.spent.floor.by_waits) own.by_waits = waker.spent.floor.by_waits;
}

}  // namespace weir::floor
