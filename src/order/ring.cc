// The turn walks round the active tasks. Invariants 2, 4 and 5 of rounds.cc hold here too; no count
// of running tasks is kept.

#include "order/ring.h"

#include "control/process.h"
#include "order/sleep.h"

namespace weir::order {

namespace {

// Without phases tasks that have no turn compute meanwhile: who comes next is called only where
// each has a processor of its own, the first task apart, which mostly waits for the others.
void call_next(Shared& s, TaskId from) {
  if (s.order.live > runtime::g_processors + 1) return;
  for (TaskId step = 1; step < s.order.high_task; step++) {
    Task& task = s.tasks[(from + step) % s.order.high_task];
    if (task.order.state != TaskState::kArrived) continue;
    call(task);
    return;
  }
}

// Unfenced: the next active task after `from`, round the ring.
void walk(Shared& s, TaskId from) {
  for (TaskId step = 1; step <= s.order.high_task; step++) {
    TaskId id = (from + step) % s.order.high_task;
    if (id == 0) {  // once round the ring
      s.order.round++;
      s.order.virtual_now += kQuantumNs;
      expire(s);
    }
    Task& task = s.tasks[id];
    if (task.order.state == TaskState::kRunning || task.order.state == TaskState::kArrived) {
      s.order.turn = id;
      if (task.order.state == TaskState::kArrived) {
        wake_sleeper(task);
        call_next(s, id);
      }
      return;
    }
  }
  s.order.turn = kNoTask;
  if (Task* woken =
          next_arrived(s, 0)) {  // by the end of the round, after its place had been passed
    grant(s, *woken);
    return;
  }
  watch_idle(s);
}

}  // namespace

void Ring::start(Task& task) { shared().order.turn = task.id; }

void Ring::add_task(Task& task) {
  Shared& s = shared();
  SpinGuard guard(s.order.lock);
  count_in(s, task, TaskState::kRunning);
}

bool Ring::is_alone(const Task& task) {
  return __atomic_load_n(&shared().order.turn, __ATOMIC_RELAXED) == task.id;
}

void Ring::kick(Shared& s) { arrived(s); }

void Ring::arrived(Shared& s) {
  if (s.order.turn == kNoTask) walk(s, s.order.high_task - 1);
}

void Ring::hand_on(Shared& s, Task& task, TaskState next) {
  if (next == TaskState::kServed) task.order.state = TaskState::kRunning;
  walk(s, task.id);
}

}  // namespace weir::order
