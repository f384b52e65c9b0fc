// The turn passes under one spin lock in shared memory. Every task sleeps on a word of its own, so
// that a turn wakes one task, and the end of a round wakes those that go on.
//
// Invariants (guarded by OrderState::lock)
// 1. running = number of tasks in kRunning that have not arrived; a serial phase begins only when
//    it is 0. (checked in check_counts, start_serial)
// 2. turn != kNoTask only for one task, which is kArrived (about to go), or executes its event.
//    (checked in check_counts, start_serial, pass_turn)
// 3. In a serial phase turns go by rising task number. A task woken in the phase takes part if its
//    number is still to come, else in the next phase. Nothing here depends on which task arrived
//    first. (not checkable: it is about two runs)
// 4. Virtual time moves by kQuantumNs a round, and jumps to the earliest deadline when no task is
//    active: a timeout comes at the same place of the order in every run. (not checkable: it is
//    about two runs)
// 5. Every sleeping task can be found: state, wait_what and wait_address say what for
//    (report_waits). (checked in sleep_in_turn)
//
// What can go wrong: a task that never arrives (it spins on memory, or computes for ever) holds up
// all others. A sleeping task whose time limit passes sends it the probe signal. signal/ then finds
// out whether it provably spins (token), or lets it publish and go on where it is (free).

#include "order/rounds.h"

#include <errno.h>
#include <signal.h>

#include "base/atomic_enum.h"
#include "control/control.h"
#include "control/phase_timer.h"
#include "control/process.h"
#include "order/admission.h"
#include "order/checks.h"
#include "order/external_log.h"
#include "order/internal.h"
#include "order/probe.h"
#include "order/sleep.h"
#include "order/waiting.h"
#include "sys/futex.h"
#include "sys/report.h"

namespace weir::order {

namespace {

constexpr uint64_t kMaxExitWaitNs = 1'000'000'000;

}  // namespace

void call(Task& task) {
  task.order.called = 1;
  if (__atomic_load_n(&task.order.sleeping, __ATOMIC_RELAXED))
    sys::futex_wake(&task.order.wake_word);
}

namespace {

// `ahead` counts from the task that gets the turn now.
void call_ahead(Shared& s, const Task& from, uint32_t ahead) {
  for (TaskId i = from.id + 1; i < s.order.high_task; i++) {
    Task& task = s.tasks[i];
    if (task.order.state != TaskState::kArrived || --ahead) continue;
    call(task);
    return;
  }
}

}  // namespace

void grant(Shared& s, Task& task) {
  s.order.turn = task.id;
  wake_sleeper(task);
  if (s.order.serial && runtime::g_processors > 1) call_ahead(s, task, runtime::g_processors - 1);
}

void watch_idle(Shared& s) {
  if (replays()) return;  // who decided that looks what comes (advance)
  Task* earliest = nullptr;
  Task* any = nullptr;
  bool outside = false;
  for (TaskId i = 0; i < s.order.high_task; i++) {
    Task& task = s.tasks[i];
    if (task.order.state == TaskState::kOutside) outside = true;
    if (task.order.state != TaskState::kBlocked) continue;
    any = &task;
    if (task.order.deadline && (!earliest || task.order.deadline < earliest->order.deadline))
      earliest = &task;
  }
  if (!earliest && !outside) earliest = any;
  if (!earliest) return;
  earliest->flags |= kWatchesIdle;
  wake_sleeper(*earliest);
}

namespace {

void end_serial(Shared& s) {
  if (s.order.serial) s.order.serial_cycles += sys::cycles() - s.order.serial_since;
  s.order.serial = 0;
  s.order.turn = kNoTask;
  s.order.round++;
  s.order.virtual_now += kQuantumNs;
  expire(s);
  if (current().traits().is_exact) choose_runners(s);
  uint32_t count = 0, woken = 0;
  s.order.first_running = kNoTask;
  for (TaskId i = 0; i < s.order.high_task; i++) {
    Task& task = s.tasks[i];
    if (task.order.state == TaskState::kArrived) woken++;
    if (task.order.state != TaskState::kServed && task.order.state != TaskState::kReady) continue;
    if (task.order.throttled) continue;
    task.order.state = TaskState::kRunning;
    if (s.order.first_running == kNoTask) s.order.first_running = task.id;
    s.order.phase_task = task.id;
    count++;
  }
  s.order.running = count;
  s.order.phase_tasks = count + woken;
  if (count == 0) {
    start_serial(s);
    return;
  }
  // One that was woken after its place in the phase had passed sleeps without a limit: it is to
  // look after the others now.
  Task* left = current().traits().is_exact ? nullptr : next_arrived(s, 0);
  if (left) wake_sleeper(*left);
  for (TaskId i = 0; i < s.order.high_task && count; i++) {
    if (s.tasks[i].order.state == TaskState::kRunning) {
      wake_sleeper(s.tasks[i]);
      count--;
    }
  }
}

}  // namespace

void start_serial(Shared& s) {
  // Invariants 1 and 2 of rounds.cc.
  WEIR_DEBUG_CHECK(s.order.running == 0 && !s.order.serial && s.order.turn == kNoTask);
  decide(s);
  // A task that ran alone may have done locked instructions and locks without a turn
  // (TaskTurn::sole_operations); before anybody else acts on what they changed it must have
  // published them, so its turn comes first. So it is with one that has made tasks without a turn,
  // or has begun to: it went through locks and lists of the C library, and a task with a lower
  // number, woken late in the last phase, would change them in the backing; and the new tasks have
  // what it has not published.
  if (s.order.made_ahead == kNoTask && s.order.phase_tasks == 1)
    s.order.made_ahead = s.order.phase_task;
  const bool starts_alone = s.order.made_ahead != kNoTask &&
                            s.tasks[s.order.made_ahead].order.state == TaskState::kArrived;
  Task* first = starts_alone ? &s.tasks[s.order.made_ahead] : next_arrived(s, 0);
  s.order.made_ahead = kNoTask;
  if (!first) {
    watch_idle(s);
    return;
  }
  s.order.began_with_sole_runner = starts_alone;
  s.order.serial = 1;
  s.order.serial_since = sys::cycles();
  floor::begin_serial(s);
  for (uint32_t ahead = 1; ahead + 1 < runtime::g_processors; ahead++) call_ahead(s, *first, ahead);
  grant(s, *first);
}

namespace {

// The program ends (exit was called) and a task that computes for ever holds the end up: it is
// asked in where it stands, publishes, and stands aside (signal/spin_probe.cc). One in the in-place
// process is asked back first.
void ask_in(const Task& waiter, uint64_t now) {
  Shared& s = shared();
  SpinGuard guard(s.order.lock);
  for (TaskId i = 0; i < s.order.high_task; i++) {
    Task& task = s.tasks[i];
    // Recorded, every call comes into the runtime: who makes those that are no events, in a loop,
    // is there whenever it is looked at, and sees at the end of one that it is asked.
    const bool active = task.order.state == TaskState::kRunning || s.order.turn == task.id;
    if (external_log().recording && &task != &waiter && active && task.in_runtime &&
        !is_creating(task) && !task.in_place.away) {
      __atomic_store_n(&task.identity.asked_in, 1u, __ATOMIC_RELEASE);
    }
    const uint64_t overdue_since = __atomic_load_n(&task.order.overdue_since, __ATOMIC_RELAXED);
    if (&task == &waiter || !is_overdue(s, task) || !overdue_since ||
        now - overdue_since < kMaxExitWaitNs)
      continue;
    __atomic_store_n(task.in_place.away ? &task.in_place.wanted_back : &task.identity.asked_in, 1u,
                     __ATOMIC_RELEASE);
    sys::raw(SYS_tkill, task.in_place.away ? s.in_place_process.tid : task.identity.tid,
             sys::g_probe_signal);
  }
}

}  // namespace

void sleep_until(Task& task, bool (*done)(const Task& task)) {
  const bool is_exact = current().traits().is_exact;
  uint64_t patience = is_exact ? current().traits().first_probe : kPreempt;
  uint64_t since = 0, soon = 0, looks = 0;
  while (!done(task)) {
    uint64_t time = soon ? soon : patience;
    const bool asks = !is_exact || asks_for_all(task, time);
    long result = sleep(task, time);
    if (done(task)) return;
    if (result == -ETIMEDOUT) {
      lose_patience(task, since);
      soon = asks ? again_soon(probe(&task), looks) : 0;
      if (is_exact && !soon && patience < kMaxProbeNs / 4) patience *= 2;
    }
  }
}

void lose_patience(const Task& waiter, uint64_t& since) {
  if (!waiter.identity.exiting) return;
  const uint64_t now = sys::monotonic_ns();
  if (!since) since = now;
  if (now - since > kMaxExitWaitNs) ask_in(waiter, now);
}

void start(Task& task) {
  Shared& s = shared();
  task.order.state = TaskState::kRunning;
  s.order.serial = 0;
  s.order.running = 1;
  s.order.live = 1;
  s.order.made_ahead = s.order.first_running = kNoTask;
  if (s.order.high_task <= task.id) s.order.high_task = task.id + 1;
  task.order.computes = 1;
  current().start(task);
}

void count_in(Shared& s, Task& task, TaskState state) {
  task.order.state = state;
  task.order.computes = 1;
  catch_up(task);
  if (task.id >= s.order.high_task) s.order.high_task = task.id + 1;
  s.order.live++;
}

void forget_lateness(Task& task) {
  task.order.probe_interval = 0;
  task.order.next_probe = 0;
  task.order.overdue_since = 0;
  task.order.place_wanted = 0;
  task.identity.asked_in = 0;
}

void ByNumber::take_turn(Task& task, EventKind kind) {
  Shared& s = shared();
  forget_lateness(task);
  s.order.lock.lock();
  task.order.state = TaskState::kArrived;
  arrived(s);
  advance(s);
  s.order.lock.unlock();
  sleep_until(task, has_turn);
  add_to_schedule(s, task, static_cast<uint64_t>(kind));
}

void ByNumber::note_further(const Task& task, EventKind kind) {
  shared().order.virtual_now += kQuantumNs;  // as if it had been in a round of its own
  add_to_schedule(shared(), task, static_cast<uint64_t>(kind));
}

void ByNumber::pass_turn(Task& task, TaskState next) {
  Shared& s = shared();
  s.order.lock.lock();
  task.order.state = next;
  hand_on(s, task, next);
  advance(s);
  s.order.lock.unlock();
}

void Rounds::start(Task&) { shared().order.turn = kNoTask; }

void Rounds::kick(Shared& s) {
  if (!s.order.serial && s.order.running == 0) start_serial(s);
}

void Rounds::arrived(Shared& s) {
  s.order.running--;
  kick(s);
  check_counts(s);
}

void Rounds::hand_on(Shared& s, Task& task, TaskState) {
  decide(s);
  const TaskId from = s.order.began_with_sole_runner ? 0 : task.id + 1;
  WEIR_DEBUG_CHECK(s.order.serial && s.order.turn == task.id);  // invariant 2 of rounds.cc
  s.order.began_with_sole_runner = 0;
  if (Task* following = next_arrived(s, from)) {
    grant(s, *following);
  } else {
    end_serial(s);
  }
  check_counts(s);
}

void Rounds::wait_to_run(Task& task) {
  PhaseScope phase(task, Phase::kResuming);
  sleep_until(task, [](const Task& t) {
    return load_enum<__ATOMIC_ACQUIRE>(t.order.state) == TaskState::kRunning;
  });
}

void Rounds::add_task(Task& task) {
  Shared& s = shared();
  SpinGuard guard(s.order.lock);
  count_in(s, task, TaskState::kReady);
}

bool Rounds::go_ahead(const Task& task) {
  Shared& s = shared();
  if (s.order.first_running != task.id) return false;
  s.order.made_ahead = task.id;  // read when this task has arrived, by then under the lock
  return true;
}

void Rounds::add_running(Task& task) {
  Shared& s = shared();
  SpinGuard guard(s.order.lock);
  count_in(s, task, TaskState::kRunning);
  s.order.running++;
}

bool Rounds::is_alone(const Task&) { return shared().order.phase_tasks == 1; }

}  // namespace weir::order
