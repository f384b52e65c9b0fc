// Invariants (guarded by OrderState::lock)
// 1. The turns are logged in the order in which they were given, before the task that has one does
//    anything in it. (not checkable: killed at any instruction, a recording shows it)
// 2. In a replay a turn is given only to the task that the recording names next, and only if that
//    task stands at an event or, for a time limit or a signal, waits: nothing else ends such a
//    wait. (not checkable: the code is the check, and says where a replay differs)
// 3. A task is kArrived exactly while it wants the turn and has not had it. (checked in
//    check_counts)
// 4. shared().order.running = number of tasks in kRunning. (checked in check_counts)
//
// In a recording the turn is not handed to a sleeping task each time: that would cost a wake-up for
// every turn. The turn is free while the sleeping task wakes up, and a task that comes meanwhile or
// is awake takes it. That may go on for kLongestBarging at most, in which the system gives the
// sleeping task a processor unless others need both more. If there are more tasks than processors,
// each turn that had to wait for one would cost all others theirs.

#include "order/arrival.h"

#include <errno.h>

#include "control/phase_timer.h"
#include "order/checks.h"
#include "order/probe.h"
#include "order/sleep.h"
#include "order/waiting.h"
#include "sys/futex.h"
#include "sys/report.h"

namespace weir::order {

namespace {

constexpr uint64_t kLongestBarging = 30'000'000;  // cycles
constexpr uint64_t kDeadlockNs = 3'000'000'000;

void end_wait(Task& task, How how) {
  finish_wait(task, how == How::kTimedOut ? ETIMEDOUT : EINTR);
  task.order.how = static_cast<uint32_t>(how);
}

// Its wait is to end as soon as the turn is free: another task may yet end it before.
bool is_expected(const Task& task) {
  return task.order.state == TaskState::kArrived ||
         (task.order.state == TaskState::kBlocked && task.order.comes);
}

Turn turn_of(const Task& task) {
  return {task.id, static_cast<How>(task.order.how), task.order.what};
}

// Order only: what those have read who have come since the turn before, they have read before what
// is written from now on.
void note_arrivals(Shared& s, Task& next) {
  s.order.unnoted = 0;
  next.order.is_unnoted = 0;
  for (TaskId i = 0; i < s.order.high_task; i++) {
    Task& task = s.tasks[i];
    if (!task.order.is_unnoted) continue;
    task.order.is_unnoted = 0;
    external_log().put_turn({task.id, How::kNone, task.order.what});
  }
}

// Order only, replaying (sync/object_order.h).
void wake_turn_sleepers(Shared& s) {
  if (!__atomic_load_n(&s.order.turn_sleepers, __ATOMIC_SEQ_CST)) return;
  __atomic_fetch_add(&s.order.turn_calls, 1u, __ATOMIC_SEQ_CST);
  sys::futex_wake(&s.order.turn_calls, 0x7fffffff);
}

void give(Shared& s, Task& task) {
  if (task.order.state == TaskState::kBlocked) end_wait(task, static_cast<How>(task.order.comes));
  task.order.comes = 0;
  s.order.turn = task.id;
  s.order.round++;
  __atomic_store_n(&s.order.decisions, s.order.decisions + 1,
                   __ATOMIC_SEQ_CST);  // against who is about to sleep: it sees this, or is seen
  if (replays()) wake_turn_sleepers(s);
  task.order.computes = 0;
  if (external_log().recording && s.order.unnoted) note_arrivals(s, task);
  if (external_log().recording) external_log().put_turn(turn_of(task));
}

bool sleeps(const Task& task) {
  return __atomic_load_n(&task.order.sleeping, __ATOMIC_RELAXED) != 0;
}

// Of all, or of those that need not get up.
Task* first_arrived(Shared& s, bool awake) {
  Task* first = nullptr;
  for (TaskId i = 0; i < s.order.high_task; i++) {
    Task& task = s.tasks[i];
    if (is_expected(task) && (!first || task.order.arrival < first->order.arrival) &&
        !(awake && sleeps(task)))
      first = &task;
  }
  return first;
}

bool may_be_passed_over(Shared& s, const Task& sleeper) {
  const uint64_t current = sys::cycles();
  if (s.order.passed_over != sleeper.order.arrival) s.order.passed_since = current;
  s.order.passed_over = sleeper.order.arrival;
  return current - s.order.passed_since < kLongestBarging;
}

void end_order(Shared& s) {
  s.order.is_ended = 1;
  external_log().ended();
}

// Of a recording that was cut, the task may have come further than it should, since nothing told it
// otherwise.
void tell_difference(Shared& s, const Turn& turn, Task& task) {
  if (external_log().is_cut_off(task)) return end_order(s);
  external_log().turn_differs(turn, task);
}

// Replaying: the recording says whose turn it is.
void give_as_recorded(Shared& s) {
  Turn turn;
  if (s.order.is_ended) return;
  if (!external_log().peek_turn(turn)) return end_order(s);
  while (turn.how == How::kNone) {
    if (turn.what) {
      Task& comes = s.tasks[turn.task];
      if (comes.order.state == TaskState::kRunning) return;  // it is on its way
      if (comes.order.state != TaskState::kArrived || comes.order.what != turn.what)
        return tell_difference(s, turn, comes);
    } else {
      report_waits();
    }
    external_log().take_turn();
    if (!external_log().peek_turn(turn)) return end_order(s);
  }
  Task& task = s.tasks[turn.task];
  if (task.order.state == TaskState::kBlocked && turn.how != How::kComes) end_wait(task, turn.how);
  if (task.order.state == TaskState::kBlocked || task.order.state == TaskState::kFree)
    return tell_difference(s, turn, task);
  if (task.order.state != TaskState::kArrived) return;  // it is on its way
  if (turn != turn_of(task)) return tell_difference(s, turn, task);
  external_log().take_turn();
  give(s, task);
  if (task.id != self().id) wake_sleeper(task);
}

// The task, which has arrived, takes the turn if it may.
void try_take(Shared& s, Task& task) {
  if (s.order.turn != kNoTask || !is_expected(task)) return;
  if (replays()) {
    give_as_recorded(s);
    return;
  }
  give(s, task);
}

void try_now(Task& task) {
  Shared& s = shared();
  SpinGuard guard(s.order.lock);
  try_take(s, task);
}

bool stands(Shared& s) {
  if (s.order.running || s.order.turn != kNoTask) return false;
  for (TaskId i = 0; i < s.order.high_task; i++) {
    const Task& task = s.tasks[i];
    if (task.order.state == TaskState::kArrived || task.order.state == TaskState::kOutside)
      return false;
    if (task.order.state == TaskState::kBlocked && task.order.deadline) return false;
  }
  return true;
}

}  // namespace

void ByArrival::arrive(Shared& s, Task& task, uint32_t what) {
  task.order.arrival = ++s.order.arrivals;
  task.order.how = static_cast<uint32_t>(How::kComes);
  task.order.what = what;
  task.order.state = TaskState::kArrived;
  try_take(s, task);
}

namespace {

// No task has the turn: the task whose it is now gets it. Returns the task that is to be woken when
// the lock is free again, as it may have gone to sleep; null if there is none.
[[nodiscard]] Task* give_on(Shared& s) {
  s.order.turn = kNoTask;
  if (replays()) {
    give_as_recorded(s);
    return nullptr;
  }
  Task* next = first_arrived(s, false);
  if (!next) return nullptr;
  if (sleeps(*next) && may_be_passed_over(s, *next)) {
    if (Task* awake = first_arrived(s, true)) {
      give(s, *awake);
      wake_sleeper(*awake);
    }
  } else {
    give(s, *next);
  }
  return next;
}

}  // namespace

bool await_turns(uint64_t turns) {
  constexpr uint32_t kMaxSpins = 1000;
  constexpr uint64_t kNap = 50'000;  // nanoseconds
  Shared& s = shared();
  Task& task = self();
  uint32_t never = 0;
  for (uint32_t looks = 0;; looks++) {
    const uint64_t taken = __atomic_load_n(&s.order.decisions, __ATOMIC_SEQ_CST);
    const bool is_over = taken > turns || __atomic_load_n(&s.order.is_ended, __ATOMIC_SEQ_CST);
    if (is_over ||
        (taken == turns && __atomic_load_n(&s.order.turn, __ATOMIC_SEQ_CST) == kNoTask)) {
      __atomic_store_n(&task.order.awaits_turns, 0u, __ATOMIC_RELEASE);
      return !is_over;
    }
    __atomic_store_n(&task.order.awaits_turns, 1u, __ATOMIC_RELEASE);
    if (looks < kMaxSpins) sys::cpu_relax();
    else sys::futex_wait(&never, 0, kNap);
  }
}

namespace {

// Returns when the task has the turn.
void wait_for_turn(Task& task) {
  uint64_t patience = current().traits().first_probe, soon = 0, looks = 0;
  while (!has_turn(task)) {
    const long result = sleep(task, soon ? soon : patience);
    if (!has_turn(task)) try_now(task);
    if (result != -ETIMEDOUT) continue;
    soon = again_soon(probe(&task), looks);
    if (!soon && patience < kMaxProbeNs / 4) patience *= 2;
  }
}

}  // namespace

int ByArrival::wait_blocked(Task& task) {
  PhaseScope phase(task, Phase::kBlocked);
  Shared& s = shared();
  const bool asks_late = traits().asks_for_pages && !replays() && !task.pages.waits_for_page;
  uint64_t rest = asks_late ? kFirstProbeNs : traits().first_probe;
  uint64_t soon = 0, looks = 0, standing = 0;
  while (!has_turn(task)) {
    uint64_t patience = soon ? soon : rest;
    const bool asks = asks_for_all(task, patience);
    s.order.lock.lock();
    const bool blocked = task.order.state == TaskState::kBlocked;
    if (blocked && !replays() && (task.order.deadline || task.pending)) {
      const uint64_t current = now();
      const bool late = task.order.deadline && task.order.deadline <= current;
      if (late || (task.pending && !task.pages.waits_for_page)) {
        if (!task.order.comes) task.order.arrival = ++s.order.arrivals;
        task.order.comes = static_cast<uint32_t>(late ? How::kTimedOut : How::kSignalled);
      } else if (task.order.deadline && task.order.deadline - current < patience) {
        patience = task.order.deadline - current;
      }
    }
    try_take(s, task);
    const bool stuck =
        blocked && !task.order.comes && !replays() && !s.order.deadlock_told && stands(s);
    s.order.lock.unlock();
    if (has_turn(task)) break;
    if (sleep(task, patience) != -ETIMEDOUT) continue;
    soon = asks ? again_soon(probe(&task), looks) : 0;
    if (!soon && rest < kMaxProbeNs) rest *= 2;
    if (!stuck) {
      standing = 0;
    } else if (!standing) {
      standing = sys::monotonic_ns();
    } else if (sys::monotonic_ns() - standing > kDeadlockNs) {
      {
        SpinGuard guard(s.order.lock);
        if (s.order.deadlock_told || !stands(s)) continue;
        s.order.deadlock_told = 1;
        if (external_log().recording) external_log().put_turn({task.id, How::kNone, 0});
      }
      tell_standstill();
    }
  }
  add_to_schedule(s, task, 0xff);
  return static_cast<int>(task.order.wait_result);
}

namespace {

// Nobody runs while the turn is held: not one who awaits turns either, since before that is over
// only its own turn can come (an execution point's).
bool all_stand(Shared& s) {
  if (__atomic_load_n(&s.order.running, __ATOMIC_ACQUIRE) == 0) return true;
  if (!replays()) return false;
  SpinGuard guard(s.order.lock);
  for (TaskId i = 0; i < s.order.high_task; i++) {
    const Task& task = s.tasks[i];
    if (task.order.state == TaskState::kRunning &&
        !__atomic_load_n(&task.order.awaits_turns, __ATOMIC_ACQUIRE))
      return false;
  }
  return true;
}

}  // namespace

bool ByArrival::stand_still(Task& task, uint64_t patience) {
  constexpr uint64_t kPollNs = 50'000;
  constexpr uint32_t kPollsBetweenProbes = 20;
  Shared& s = shared();
  uint32_t never = 0;
  const uint64_t begin = sys::monotonic_ns();
  for (uint32_t looks = 0; !all_stand(s); looks++) {
    if (sys::monotonic_ns() - begin > patience) return false;
    sys::futex_wait(&never, 0, kPollNs);
    if (looks % kPollsBetweenProbes == 0) probe(&task);
  }
  return true;
}

void ByArrival::come(Shared& s, Task& task, EventKind kind) {
  s.order.running--;
  arrive(s, task, static_cast<uint32_t>(kind));
  check_counts(s);
}

void ByArrival::await_turn(Task& task, EventKind kind) {
  wait_for_turn(task);
  add_to_schedule(shared(), task, static_cast<uint64_t>(kind));
}

void ByArrival::take_turn(Task& task, EventKind kind) {
  Shared& s = shared();
  forget_lateness(task);
  s.order.lock.lock();
  come(s, task, kind);
  s.order.lock.unlock();
  await_turn(task, kind);
}

void ArrivalInOneMemory::take_turn(Task& task, EventKind kind) {
  Shared& s = shared();
  forget_lateness(task);
  s.order.lock.lock();
  come(s, task, kind);
  if (s.order.turn != task.id) task.order.is_unnoted = s.order.unnoted = 1;
  s.order.lock.unlock();
  await_turn(task, kind);
}

Task* ByArrival::hand_on(Shared& s, Task& task, TaskState next) {
  task.order.state = next;
  if (next == TaskState::kServed) {
    task.order.state = TaskState::kRunning;
    task.order.computes = 1;
    s.order.running++;
  }
  Task* following = give_on(s);
  check_counts(s);
  return following;
}

void ByArrival::pass_turn(Task& task, TaskState next) {
  Shared& s = shared();
  s.order.lock.lock();
  Task* following = hand_on(s, task, next);
  s.order.lock.unlock();
  if (following) wake_sleeper(*following);
}

// What a program reads by a plain load comes right where it is far enough from what others store:
// the kernel's call in between is.
void ArrivalInOneMemory::pass_turn(Task& task, TaskState next) {
  Shared& s = shared();
  s.order.lock.lock();
  Task* following = hand_on(s, task, next);
  if (following) wake_sleeper(*following);
  s.order.lock.unlock();
}

void ByArrival::rejoin(Task& task) {
  Shared& s = shared();
  s.order.lock.lock();
  arrive(s, task, 0);
  s.order.lock.unlock();
  wait_for_turn(task);
}

void ByArrival::start(Task&) { shared().order.turn = kNoTask; }

void ByArrival::add_task(Task& task) {
  Shared& s = shared();
  SpinGuard guard(s.order.lock);
  count_in(s, task, TaskState::kRunning);
  s.order.running++;
}

bool ByArrival::is_alone(const Task& task) {
  return __atomic_load_n(&shared().order.turn, __ATOMIC_RELAXED) == task.id;
}

uint32_t ByArrival::busy_tasks(const Shared& s) {
  return s.order.running + (s.order.turn != kNoTask);
}

void ByArrival::kick(Shared& s) {
  Task* next = s.order.turn == kNoTask ? give_on(s) : nullptr;
  if (next) wake_sleeper(*next);
}

}  // namespace weir::order
