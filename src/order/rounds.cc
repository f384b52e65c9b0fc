// The turn passes under one spin lock in shared memory; every task sleeps on a word of its own, so that a turn wakes one
// task and the end of a round wakes those that go on.
//
// Invariants (guarded by order_lock)
// 1. running = number of tasks in kRunning that have not arrived; a serial phase begins only when it is 0.
// 2. turn != kNoTask only for one task, which is kArrived (about to go), or executes its event.
// 3. In a serial phase turns go by rising task number. A task woken in the phase takes part if its number is still to
//    come, else in the next phase. Nothing here depends on who arrived first.
// 4. Virtual time moves by kQuantum a round, and jumps to the earliest deadline when no task is active: a timeout comes
//    at the same place of the order in every run.
// 5. Whoever sleeps can be found: state, wait_what and wait_address say what for (report_waits).
//
// What can go wrong: a task that never arrives (spinning on memory, or computing for ever) holds up all. A sleeper whose
// time limit passes sends it the probe signal: trap/ then finds out whether it provably spins (token), or lets it
// publish and go on where it stands (free).

#include "order/rounds.h"

#include <errno.h>
#include <signal.h>

#include "event/phase.h"
#include "order/pace.h"
#include "order/probe.h"
#include "order/sleep.h"
#include "sys/futex.h"
#include "sys/report.h"
#include "task/shared.h"

namespace weir::order {

namespace {

Config g_config;
bool (*g_sees_change)(const Task& task) = nullptr;

constexpr uint64_t kExitPatience = 1'000'000'000;
constexpr uint64_t kDeadlockPatience = 3'000'000'000;

constexpr uint32_t kWatchesIdle = 1u << 8;         // Task::flags

// Getting up takes longer than most turns: who sleeps is called some turns ahead, and looks at its word by the time its turn
// comes. `ahead` counts from the task that gets the turn now.
void call(Shared& s, const Task& from, uint32_t ahead) {
  for (TaskId i = from.id + 1; i < s.high_task; i++) {
    Task& task = s.tasks[i];
    if (task.state != TaskState::kArrived || --ahead) continue;
    task.called = 1;
    if (__atomic_load_n(&task.sleeping, __ATOMIC_RELAXED)) sys::futex_wake(&task.wake_word);
    return;
  }
}

void grant(Shared& s, Task& task) {
  s.turn = task.id;
  wake_sleeper(task);
  if (s.serial && g_config.processors > 1) call(s, task, g_config.processors - 1);
}

void finish_wait(Task& task, int result) {
  task.wait_result = static_cast<uint32_t>(result);
  task.wait_key = 0;
  catch_up(task);
  task.deadline = 0;
  task.state = TaskState::kArrived;
}

void expire(Shared& s) {
  const uint64_t current = now();
  for (TaskId i = 0; i < s.high_task; i++) {
    Task& task = s.tasks[i];
    if (task.state != TaskState::kBlocked) continue;
    if (task.deadline && task.deadline <= current) {
      finish_wait(task, ETIMEDOUT);
    } else if (task.spin_reads && g_sees_change(task)) {
      finish_wait(task, 0);
    }
  }
}

// Nobody is active. Finds somebody to sleep until the earliest deadline; with none and nobody outside it is a deadlock.
void watch_idle(Shared& s) {
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

Task* next_arrived(Shared& s, TaskId from) {
  for (TaskId i = from; i < s.high_task; i++) {
    if (s.tasks[i].state == TaskState::kArrived) return &s.tasks[i];
  }
  return nullptr;
}

void start_serial(Shared& s);

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
  // One that was woken after its place in the phase had passed sleeps without a limit: it is to look after the others now.
  Task* left = g_config.deterministic ? nullptr : next_arrived(s, 0);
  if (left) wake_sleeper(*left);
  for (TaskId i = 0; i < s.high_task && count; i++) {
    if (s.tasks[i].state == TaskState::kRunning) {
      wake_sleeper(s.tasks[i]);
      count--;
    }
  }
}

void start_serial(Shared& s) {
  // A task that ran alone may have done locked instructions and locks without a turn (Task::solo); before anybody else acts
  // on what they changed it must have published them, so its turn comes first. So it is with one that has made tasks
  // without a turn, or has begun to: it went through locks and lists of the C library, and a task with a lower number, woken
  // late in the last phase, would change them in the store; and the new tasks have what it has not published.
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
  for (uint32_t ahead = 1; ahead + 1 < g_config.processors; ahead++) call(s, *first, ahead);
  grant(s, *first);
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
      if (task.state == TaskState::kArrived) wake_sleeper(task);
      return;
    }
  }
  s.turn = kNoTask;
  if (Task* woken = next_arrived(s, 0)) {  // by the end of the round, after its place had been passed
    grant(s, *woken);
    return;
  }
  watch_idle(s);
}

// A task has become kArrived while perhaps nobody is active.
void kick(Shared& s) {
  if (g_config.fenced) {
    if (!s.serial && s.running == 0) start_serial(s);
  } else if (s.turn == kNoTask) {
    walk(s, s.high_task - 1);
  }
}

// The program ends (exit was called) and a task that computes for ever holds the end up: it is asked in where it stands, publishes, and
// stands aside (trap/spin.cc). One in the executor is asked back first.
void ask_in(const Task& waiter, uint64_t now) {
  Shared& s = shared();
  SpinGuard guard(s.order_lock);
  for (TaskId i = 0; i < s.high_task; i++) {
    Task& task = s.tasks[i];
    const uint64_t late_since = __atomic_load_n(&task.late_since, __ATOMIC_RELAXED);
    if (&task == &waiter || !late(s, task) || !late_since || now - late_since < kExitPatience) continue;
    __atomic_store_n(task.away ? &task.wanted_back : &task.asked_in, 1u, __ATOMIC_RELEASE);
    sys::raw(SYS_tkill, task.away ? s.executor.tid : task.tid, sys::kProbeSignal);
  }
}

// A waiter looks in bursts: there is always somebody whose last event was long enough ago to be looked at.
uint64_t again_soon(uint64_t soon, uint64_t& looks) {
  if (soon && looks++ < kLooks) return soon;
  looks = 0;
  return 0;
}

// Sleeps until `done` holds of the task; probes late tasks meanwhile.
template <typename Done>
void sleep_until(Task& task, Done done) {
  uint64_t patience = g_config.deterministic ? kFirstProbe : kPreempt;
  uint64_t since = 0, soon = 0, looks = 0;
  while (!done()) {
    long result = sleep(task, soon ? soon : patience);
    if (done()) return;
    if (result == -ETIMEDOUT) {
      lose_patience(task, since);
      soon = again_soon(probe(&task), looks);
      if (g_config.deterministic && !soon && patience < kLastProbe / 4) patience *= 2;
    }
  }
}

}  // namespace

void lose_patience(const Task& waiter, uint64_t& since) {
  if (!waiter.exiting) return;
  const uint64_t now = sys::monotonic_ns();
  if (!since) since = now;
  if (now - since > kExitPatience) ask_in(waiter, now);
}

void configure(const Config& config) { g_config = config; }
const Config& config() { return g_config; }
namespace {

void note_turn(const Task& task, EventKind kind) {
  Shared& s = shared();
  s.schedule_hash = (s.schedule_hash ^ (uint64_t{task.id} << 8 | static_cast<uint64_t>(kind))) * 0x9E3779B97F4A7C15;
}

}  // namespace

uint64_t now() { return g_config.deterministic ? shared().virtual_now : sys::monotonic_ns(); }
void set_watch(bool (*sees_change)(const Task& task)) { g_sees_change = sees_change; }

void start(Task& task) {
  Shared& s = shared();
  task.state = TaskState::kRunning;
  s.serial = 0;
  s.running = 1;
  s.live = 1;
  s.made_ahead = s.first_running = kNoTask;
  if (s.high_task <= task.id) s.high_task = task.id + 1;
  s.turn = g_config.fenced ? kNoTask : task.id;
}

void take_turn(Task& task, EventKind kind) {
  Shared& s = shared();
  task.probe_interval = 0;
  task.next_probe = 0;
  task.late_since = 0;
  task.asked_in = 0;
  s.order_lock.lock();
  task.state = TaskState::kArrived;
  if (g_config.fenced) {
    s.running--;
    if (s.running == 0 && !s.serial) start_serial(s);
  } else if (s.turn == kNoTask) {
    walk(s, s.high_task - 1);
  }
  s.order_lock.unlock();
  sleep_until(task, [&] { return __atomic_load_n(&s.turn, __ATOMIC_ACQUIRE) == task.id; });
  note_turn(task, kind);
}

void note_further(const Task& task, EventKind kind) {
  shared().virtual_now += kQuantum;  // as if it had been in a round of its own
  note_turn(task, kind);
}

void pass_turn(Task& task, TaskState next) {
  Shared& s = shared();
  s.order_lock.lock();
  task.state = next;
  if (g_config.fenced) {
    const TaskId from = s.alone_first ? 0 : task.id + 1;
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
  s.order_lock.unlock();
}

void wait_to_run(Task& task) {
  if (!g_config.fenced) return;
  PhaseScope phase(task, Phase::kResuming);
  sleep_until(task, [&] { return __atomic_load_n(&task.state, __ATOMIC_ACQUIRE) == TaskState::kRunning; });
}

int wait_blocked(Task& task) {
  PhaseScope phase(task, Phase::kBlocked);
  Shared& s = shared();
  uint64_t rest = kFirstProbe;  // a blocked task asks too what the running ones do, ever more rarely
  uint64_t soon = 0, looks = 0, since = 0;
  for (;;) {
    if (__atomic_load_n(&s.turn, __ATOMIC_ACQUIRE) == task.id) break;
    if (task.pending && task.state == TaskState::kBlocked) note_signal(task);
    uint64_t patience = !g_config.deterministic ? sys::kForever : soon ? soon : rest;
    s.order_lock.lock();
    const bool watch = task.flags & kWatchesIdle;
    const bool blocked = task.state == TaskState::kBlocked;
    if (!g_config.deterministic && blocked && task.deadline) {
      const uint64_t current = now();
      patience = task.deadline > current ? task.deadline - current : 1;
    } else if (watch && blocked) {
      patience = !task.deadline ? kDeadlockPatience : task.deadline > s.virtual_now ? task.deadline - s.virtual_now : 1;
    } else if (!blocked) {
      patience = g_config.deterministic ? kFirstProbe * 4 : kPreempt;
    }
    s.order_lock.unlock();
    long result = sleep(task, patience);
    if (result != -ETIMEDOUT) continue;
    lose_patience(task, since);
    if (!g_config.deterministic && blocked && task.deadline) {
      SpinGuard guard(s.order_lock);
      if (task.state == TaskState::kBlocked && task.deadline && task.deadline <= now()) {
        finish_wait(task, ETIMEDOUT);
        kick(s);
      }
      continue;
    }
    if (!blocked || !watch) {
      soon = again_soon(probe(&task), looks);
      if (!soon && rest < kLastProbe) rest *= 2;
      continue;
    }
    s.order_lock.lock();
    task.flags &= ~kWatchesIdle;
    bool outside = false;
    for (TaskId i = 0; i < s.high_task; i++) outside |= s.tasks[i].state == TaskState::kOutside;
    const bool idle = (g_config.fenced ? !s.serial && s.running == 0 : s.turn == kNoTask) && !next_arrived(s, 0);
    bool deadlock = false;
    if (idle && task.state == TaskState::kBlocked) {
      if (task.deadline) {
        if (s.virtual_now < task.deadline) s.virtual_now = task.deadline;
        expire(s);
        kick(s);
      } else if (!s.deadlock_told && !outside) {
        s.deadlock_told = 1;
        deadlock = true;
      }
    }
    s.order_lock.unlock();
    if (deadlock) report_waits();
  }
  s.schedule_hash = (s.schedule_hash ^ (uint64_t{task.id} << 8 | 0xff)) * 0x9E3779B97F4A7C15;
  return static_cast<int>(task.wait_result);
}

void rejoin(Task& task) {
  Shared& s = shared();
  s.order_lock.lock();
  catch_up(task);
  task.state = TaskState::kArrived;
  kick(s);
  s.order_lock.unlock();
  sleep_until(task, [&] { return __atomic_load_n(&s.turn, __ATOMIC_ACQUIRE) == task.id; });
}

void add_task(Task& task) {
  Shared& s = shared();
  SpinGuard guard(s.order_lock);
  task.state = g_config.fenced ? TaskState::kReady : TaskState::kRunning;
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

uint32_t wake(uint64_t key, uint32_t count, uint32_t bits) {
  Shared& s = shared();
  SpinGuard guard(s.order_lock);
  uint32_t woken = 0;
  while (woken < count) {
    Task* first = nullptr;
    for (TaskId i = 0; i < s.high_task; i++) {
      Task& task = s.tasks[i];
      if (task.state == TaskState::kBlocked && task.wait_key == key && (task.wait_bits & bits) &&
          (!first || task.wait_sequence < first->wait_sequence)) {
        first = &task;
      }
    }
    if (!first) break;
    finish_wait(*first, 0);
    woken++;
  }
  return woken;
}

uint32_t requeue(uint64_t from, uint64_t to, uint32_t count) {
  Shared& s = shared();
  SpinGuard guard(s.order_lock);
  uint32_t moved = 0;
  for (TaskId i = 0; i < s.high_task && moved < count; i++) {
    Task& task = s.tasks[i];
    if (task.state == TaskState::kBlocked && task.wait_key == from) {
      task.wait_key = to;
      moved++;
    }
  }
  return moved;
}

uint32_t waiters(uint64_t key) {
  Shared& s = shared();
  // The instructions of who asks may be counted (interpose/condition.cc), and those of a lock depend on time. Under token no
  // queue changes while it has the turn.
  const bool locks = !g_config.deterministic || !g_config.fenced || s.turn != self().id;
  if (locks) s.order_lock.lock();
  uint32_t count = 0;
  for (TaskId i = 0; i < s.high_task; i++) {
    if (s.tasks[i].state == TaskState::kBlocked && s.tasks[i].wait_key == key) count++;
  }
  if (locks) s.order_lock.unlock();
  return count;
}

bool wake_task(Task& task, int result) {
  Shared& s = shared();
  SpinGuard guard(s.order_lock);
  if (task.state != TaskState::kBlocked) return false;
  finish_wait(task, result);
  kick(s);
  return true;
}

bool is_waited_for(const Task& task) {
  const Shared& s = shared();
  for (TaskId i = 0; i < s.high_task; i++) {
    const TaskState state = s.tasks[i].state;
    if (&s.tasks[i] != &task && state != TaskState::kFree && state != TaskState::kBlocked && state != TaskState::kOutside) return true;
  }
  return false;
}

bool alone(const Task& task) {
  const Shared& s = shared();
  return g_config.fenced ? s.phase_tasks == 1 : __atomic_load_n(&s.turn, __ATOMIC_RELAXED) == task.id;
}

void note_signal(Task& task) { wake_task(task, EINTR); }

}  // namespace weir::order
