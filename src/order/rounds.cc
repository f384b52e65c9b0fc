// The turn passes under one spin lock in shared memory; every task sleeps on a word of its own, so
// that a turn wakes one task and the end of a round wakes those that go on.
//
// Invariants (guarded by order_lock)
// 1. running = number of tasks in kRunning that have not arrived; a serial phase begins only when
//    it is 0.
// 2. turn != kNoTask only for one task, which is kArrived (about to go), or executes its event.
// 3. In a serial phase turns go by rising task number. A task woken in the phase takes part if its
//    number is still to come, else in the next phase. Nothing here depends on who arrived first.
// 4. Virtual time moves by kQuantum a round, and jumps to the earliest deadline when no task is
//    active: a timeout comes at the same place of the order in every run.
// 5. Whoever sleeps can be found: state, wait_what and wait_address say what for (report_waits).
//
// What can go wrong: a task that never arrives (spinning on memory, or computing for ever) holds up
// all. A sleeper whose time limit passes sends it the probe signal: trap/ then finds out whether it
// provably spins (token), or lets it publish and go on where it stands (free).

#include "order/rounds.h"

#include <errno.h>
#include <signal.h>

#include "base/atomic_enum.h"
#include "control/control.h"
#include "control/phase_timer.h"
#include "order/admission.h"
#include "order/arrival.h"
#include "order/checks.h"
#include "order/external_log.h"
#include "order/internal.h"
#include "order/probe.h"
#include "order/sleep.h"
#include "sys/futex.h"
#include "sys/report.h"

namespace weir::order {

namespace {

Config g_config;

constexpr uint64_t kExitPatience = 1'000'000'000;

// Getting up takes longer than most turns: who sleeps is called some turns ahead, and looks at its
// word by the time its turn comes.
void call(Task& task) {
  task.called = 1;
  if (__atomic_load_n(&task.sleeping, __ATOMIC_RELAXED)) sys::futex_wake(&task.wake_word);
}

// `ahead` counts from the task that gets the turn now.
void call_ahead(Shared& s, const Task& from, uint32_t ahead) {
  for (TaskId i = from.id + 1; i < s.high_task; i++) {
    Task& task = s.tasks[i];
    if (task.state != TaskState::kArrived || --ahead) continue;
    call(task);
    return;
  }
}

void grant(Shared& s, Task& task) {
  s.turn = task.id;
  wake_sleeper(task);
  if (s.serial && g_config.processors > 1) call_ahead(s, task, g_config.processors - 1);
}

// Nobody is active. Finds somebody to sleep until the earliest deadline; with none and nobody
// outside it is a deadlock.
void watch_idle(Shared& s) {
  if (replays()) return;  // who decided that looks what comes (advance)
  Task* earliest = nullptr;
  Task* any = nullptr;
  bool outside = false;
  for (TaskId i = 0; i < s.high_task; i++) {
    Task& task = s.tasks[i];
    if (task.state == TaskState::kOutside) outside = true;
    if (task.state != TaskState::kBlocked) continue;
    any = &task;
    if (task.deadline && (!earliest || task.deadline < earliest->deadline)) earliest = &task;
  }
  if (!earliest && !outside) earliest = any;
  if (!earliest) return;
  earliest->flags |= kWatchesIdle;
  wake_sleeper(*earliest);
}

void end_serial(Shared& s) {
  if (s.serial) s.serial_cycles += sys::cycles() - s.serial_since;
  s.serial = 0;
  s.turn = kNoTask;
  s.round++;
  s.virtual_now += kQuantum;
  expire(s);
  if (g_config.deterministic) choose_runners(s);
  uint32_t count = 0, woken = 0;
  s.first_running = kNoTask;
  for (TaskId i = 0; i < s.high_task; i++) {
    Task& task = s.tasks[i];
    if (task.state == TaskState::kArrived) woken++;
    if (task.state != TaskState::kServed && task.state != TaskState::kReady) continue;
    if (task.parked) continue;
    task.state = TaskState::kRunning;
    if (s.first_running == kNoTask) s.first_running = task.id;
    s.phase_task = task.id;
    count++;
  }
  s.running = count;
  s.phase_tasks = count + woken;
  if (count == 0) {
    start_serial(s);
    return;
  }
  // One that was woken after its place in the phase had passed sleeps without a limit: it is to
  // look after the others now.
  Task* left = g_config.deterministic ? nullptr : next_arrived(s, 0);
  if (left) wake_sleeper(*left);
  for (TaskId i = 0; i < s.high_task && count; i++) {
    if (s.tasks[i].state == TaskState::kRunning) {
      wake_sleeper(s.tasks[i]);
      count--;
    }
  }
}

}  // namespace

void start_serial(Shared& s) {
  WEIR_DEBUG_CHECK(s.running == 0 && !s.serial && s.turn == kNoTask);
  decide(s);
  // A task that ran alone may have done locked instructions and locks without a turn (Task::solo);
  // before anybody else acts on what they changed it must have published them, so its turn comes
  // first. So it is with one that has made tasks without a turn, or has begun to: it went through
  // locks and lists of the C library, and a task with a lower number, woken late in the last phase,
  // would change them in the store; and the new tasks have what it has not published.
  if (s.made_ahead == kNoTask && s.phase_tasks == 1) s.made_ahead = s.phase_task;
  const bool alone = s.made_ahead != kNoTask && s.tasks[s.made_ahead].state == TaskState::kArrived;
  Task* first = alone ? &s.tasks[s.made_ahead] : next_arrived(s, 0);
  s.made_ahead = kNoTask;
  if (!first) {
    watch_idle(s);
    return;
  }
  s.alone_first = alone;
  s.serial = 1;
  s.serial_since = sys::cycles();
  for (uint32_t ahead = 1; ahead + 1 < g_config.processors; ahead++) call_ahead(s, *first, ahead);
  grant(s, *first);
}

namespace {

// Without phases tasks that have no turn compute meanwhile: who comes next is called only where
// each has a processor of its own, the first task apart, which mostly waits for the others.
void call_next(Shared& s, TaskId from) {
  if (s.live > g_config.processors + 1) return;
  for (TaskId step = 1; step < s.high_task; step++) {
    Task& task = s.tasks[(from + step) % s.high_task];
    if (task.state != TaskState::kArrived) continue;
    call(task);
    return;
  }
}

// Unfenced: the next active task after `from`, round the ring.
void walk(Shared& s, TaskId from) {
  for (TaskId step = 1; step <= s.high_task; step++) {
    TaskId id = (from + step) % s.high_task;
    if (id == 0) {  // once round the ring
      s.round++;
      s.virtual_now += kQuantum;
      expire(s);
    }
    Task& task = s.tasks[id];
    if (task.state == TaskState::kRunning || task.state == TaskState::kArrived) {
      s.turn = id;
      if (task.state == TaskState::kArrived) {
        wake_sleeper(task);
        call_next(s, id);
      }
      return;
    }
  }
  s.turn = kNoTask;
  if (Task* woken =
          next_arrived(s, 0)) {  // by the end of the round, after its place had been passed
    grant(s, *woken);
    return;
  }
  watch_idle(s);
}

}  // namespace

// A task has become kArrived while perhaps nobody is active.
void kick(Shared& s) {
  if (g_config.by_arrival) {
    Task* next = s.turn == kNoTask ? give_on(s) : nullptr;
    if (next) wake_sleeper(*next);
    return;
  }
  if (g_config.fenced) {
    if (!s.serial && s.running == 0) start_serial(s);
  } else if (s.turn == kNoTask) {
    walk(s, s.high_task - 1);
  }
}

namespace {

// The program ends (exit was called) and a task that computes for ever holds the end up: it is
// asked in where it stands, publishes, and stands aside (signal/spin_probe.cc). One in the executor
// is asked back first.
void ask_in(const Task& waiter, uint64_t now) {
  Shared& s = shared();
  SpinGuard guard(s.order_lock);
  for (TaskId i = 0; i < s.high_task; i++) {
    Task& task = s.tasks[i];
    // Recorded, every call comes into the runtime: who makes those that are no events, in a loop,
    // is there whenever it is looked at, and sees at the end of one that it is asked.
    const bool active = task.state == TaskState::kRunning || s.turn == task.id;
    if (journal().recording && &task != &waiter && active && task.in_runtime && !task.ahead &&
        !task.away) {
      __atomic_store_n(&task.asked_in, 1u, __ATOMIC_RELEASE);
    }
    const uint64_t late_since = __atomic_load_n(&task.late_since, __ATOMIC_RELAXED);
    if (&task == &waiter || !late(s, task) || !late_since || now - late_since < kExitPatience)
      continue;
    __atomic_store_n(task.away ? &task.wanted_back : &task.asked_in, 1u, __ATOMIC_RELEASE);
    sys::raw(SYS_tkill, task.away ? s.executor.tid : task.tid, sys::g_probe_signal);
  }
}

}  // namespace

void sleep_until(Task& task, bool (*done)(const Task& task)) {
  uint64_t patience = g_config.deterministic ? kFirstProbe : kPreempt;
  uint64_t since = 0, soon = 0, looks = 0;
  while (!done(task)) {
    long result = sleep(task, soon ? soon : patience);
    if (done(task)) return;
    if (result == -ETIMEDOUT) {
      lose_patience(task, since);
      soon = again_soon(probe(&task), looks);
      if (g_config.deterministic && !soon && patience < kLastProbe / 4) patience *= 2;
    }
  }
}

void lose_patience(const Task& waiter, uint64_t& since) {
  if (!waiter.exiting) return;
  const uint64_t now = sys::monotonic_ns();
  if (!since) since = now;
  if (now - since > kExitPatience) ask_in(waiter, now);
}

void configure(const Config& config) { g_config = config; }
const Config& config() { return g_config; }
uint64_t now() { return g_config.deterministic ? shared().virtual_now : sys::monotonic_ns(); }

void start(Task& task) {
  Shared& s = shared();
  task.state = TaskState::kRunning;
  s.serial = 0;
  s.running = 1;
  s.live = 1;
  s.made_ahead = s.first_running = kNoTask;
  if (s.high_task <= task.id) s.high_task = task.id + 1;
  s.turn = g_config.fenced || g_config.by_arrival ? kNoTask : task.id;
  task.computes = 1;
}

void take_turn(Task& task, EventKind kind) {
  Shared& s = shared();
  task.probe_interval = 0;
  task.next_probe = 0;
  task.late_since = 0;
  task.asked_in = 0;
  s.order_lock.lock();
  if (g_config.by_arrival) {
    s.running--;
    arrive(s, task, static_cast<uint32_t>(kind));
    check_counts(s);
    s.order_lock.unlock();
    wait_for_turn(task);
    add_to_schedule(s, task, static_cast<uint64_t>(kind));
    return;
  }
  task.state = TaskState::kArrived;
  if (g_config.fenced) {
    s.running--;
    if (s.running == 0 && !s.serial) start_serial(s);
  } else if (s.turn == kNoTask) {
    walk(s, s.high_task - 1);
  }
  advance(s);
  check_counts(s);
  s.order_lock.unlock();
  sleep_until(task, has_turn);
  add_to_schedule(shared(), task, static_cast<uint64_t>(kind));
}

void note_further(const Task& task, EventKind kind) {
  shared().virtual_now += kQuantum;  // as if it had been in a round of its own
  add_to_schedule(shared(), task, static_cast<uint64_t>(kind));
}

void pass_turn(Task& task, TaskState next) {
  Shared& s = shared();
  s.order_lock.lock();
  task.state = next;
  if (g_config.by_arrival) {
    if (next == TaskState::kServed) {
      task.state = TaskState::kRunning;
      task.computes = 1;
      s.running++;
    }
    Task* next = give_on(s);
    check_counts(s);
    // Order only, what a program reads by a plain load comes right where it is far enough from what
    // others store: the kernel's call in between is.
    if (next && g_config.order_only) wake_sleeper(*next);
    s.order_lock.unlock();
    if (next && !g_config.order_only) wake_sleeper(*next);
    return;
  }
  if (g_config.fenced) {
    decide(s);
    const TaskId from = s.alone_first ? 0 : task.id + 1;
    WEIR_DEBUG_CHECK(s.serial && s.turn == task.id);
    s.alone_first = 0;
    if (Task* following = next_arrived(s, from)) {
      grant(s, *following);
    } else {
      end_serial(s);
    }
  } else {
    if (next == TaskState::kServed) task.state = TaskState::kRunning;
    walk(s, task.id);
  }
  advance(s);
  check_counts(s);
  s.order_lock.unlock();
}

void wait_to_run(Task& task) {
  if (!g_config.fenced) return;
  PhaseScope phase(task, Phase::kResuming);
  sleep_until(task, [](const Task& t) {
    return load_enum<__ATOMIC_ACQUIRE>(t.state) == TaskState::kRunning;
  });
}

void add_task(Task& task) {
  Shared& s = shared();
  SpinGuard guard(s.order_lock);
  task.state = g_config.fenced ? TaskState::kReady : TaskState::kRunning;
  task.computes = 1;
  if (g_config.by_arrival) s.running++;
  catch_up(task);
  if (task.id >= s.high_task) s.high_task = task.id + 1;
  s.live++;
}

bool go_ahead(const Task& task) {
  Shared& s = shared();
  if (!g_config.fenced || s.first_running != task.id) return false;
  s.made_ahead = task.id;  // read when this task has arrived, by then under the lock
  return true;
}

void add_running(Task& task) {
  Shared& s = shared();
  SpinGuard guard(s.order_lock);
  task.state = TaskState::kRunning;
  catch_up(task);
  s.running++;
  if (task.id >= s.high_task) s.high_task = task.id + 1;
  s.live++;
}

}  // namespace weir::order
