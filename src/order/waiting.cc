// Waiting: for another task, for a time, for the outside world; and what ends it.

#include <errno.h>

#include "control/control.h"
#include "control/phase_timer.h"
#include "order/admission.h"
#include "order/by_number.h"
#include "order/external_log.h"
#include "order/internal.h"
#include "order/probe.h"
#include "order/sleep.h"
#include "order/waiting.h"
#include "sys/futex.h"

namespace weir::order {

namespace {

constexpr uint64_t kDeadlockNs = 3'000'000'000;

bool (*g_sees_change)(const Task& task) = nullptr;

}  // namespace

void set_watch(bool (*sees_change)(const Task& task)) { g_sees_change = sees_change; }

Task* next_arrived(Shared& s, TaskId from) {
  for (TaskId i = from; i < s.order.high_task; i++) {
    if (s.tasks[i].order.state == TaskState::kArrived) return &s.tasks[i];
  }
  return nullptr;
}

void finish_wait(Task& task, int result) {
  task.order.wait_result = static_cast<uint32_t>(result);
  task.order.wait_key = 0;
  catch_up(task);
  task.order.deadline = 0;
  task.order.arrival = ++shared().order.arrivals;
  task.order.how = static_cast<uint32_t>(How::kComes);
  task.order.what = 0;
  task.order.state = TaskState::kArrived;
}

void expire(Shared& s) {
  const uint64_t now = current().now();
  for (TaskId i = 0; i < s.order.high_task; i++) {
    Task& task = s.tasks[i];
    if (task.order.state != TaskState::kBlocked) continue;
    if (task.order.deadline && task.order.deadline <= now) {
      finish_wait(task, ETIMEDOUT);
    } else if (task.spin.read_count && g_sees_change(task)) {
      finish_wait(task, 0);
    }
  }
}

// Time jumps to the earliest deadline.
void jump(Shared& s) {
  uint64_t earliest = ~uint64_t{0};
  for (TaskId i = 0; i < s.order.high_task; i++) {
    const Task& task = s.tasks[i];
    if (task.order.state == TaskState::kBlocked && task.order.deadline &&
        task.order.deadline < earliest)
      earliest = task.order.deadline;
  }
  if (earliest != ~uint64_t{0} && s.order.virtual_now < earliest) s.order.virtual_now = earliest;
  expire(s);
}

namespace {

// A signal has come to a task that waits; it came from outside.
void end_by_signal(Task& task) {
  Shared& s = shared();
  SpinGuard guard(s.order.lock);
  if (task.order.state != TaskState::kBlocked) return;
  come(Outside::kSignal, task);
}

}  // namespace

int ByNumber::wait_blocked(Task& task) {
  const bool is_exact = traits().is_exact;
  PhaseScope phase(task, Phase::kBlocked);
  Shared& s = shared();
  // A blocked task asks too what the running ones do, ever more rarely.
  uint64_t rest = traits().first_probe;
  uint64_t soon = 0, looks = 0, since = 0;
  for (;;) {
    if (__atomic_load_n(&s.order.turn, __ATOMIC_ACQUIRE) == task.id) break;
    if (task.pending && !task.order.had_signal && task.order.state == TaskState::kBlocked &&
        !replays())
      end_by_signal(task);
    uint64_t patience = !is_exact ? sys::kForever : soon ? soon : rest;
    s.order.lock.lock();
    const bool watch = task.flags & kWatchesIdle;
    const bool blocked = task.order.state == TaskState::kBlocked;
    if (!is_exact && blocked && task.order.deadline) {
      const uint64_t current = now();
      patience = task.order.deadline > current ? task.order.deadline - current : 1;
    } else if (watch && blocked) {
      patience = !task.order.deadline ? kDeadlockNs
                 : task.order.deadline > s.order.virtual_now
                     ? task.order.deadline - s.order.virtual_now
                     : 1;
    } else if (!blocked) {
      patience = is_exact ? kFirstProbeNs * 4 : kPreempt;
    }
    s.order.lock.unlock();
    const bool asks = !is_exact || !blocked || watch || asks_for_all(task, patience);
    long result = sleep(task, patience);
    if (result != -ETIMEDOUT) continue;
    lose_patience(task, since);
    if (!is_exact && blocked && task.order.deadline) {
      SpinGuard guard(s.order.lock);
      if (task.order.state == TaskState::kBlocked && task.order.deadline &&
          task.order.deadline <= now()) {
        finish_wait(task, ETIMEDOUT);
        kick(s);
      }
      continue;
    }
    if (!blocked || !watch) {
      soon = asks ? again_soon(probe(&task), looks) : 0;
      if (!soon && rest < kMaxProbeNs) rest *= 2;
      continue;
    }
    s.order.lock.lock();
    task.flags &= ~kWatchesIdle;
    bool outside = false;
    for (TaskId i = 0; i < s.order.high_task; i++)
      outside |= s.tasks[i].order.state == TaskState::kOutside;
    const bool idle = is_idle(s) && !next_arrived(s, 0);
    if (idle && task.order.state == TaskState::kBlocked) {
      if (task.order.deadline) {
        come(Outside::kTimeJumps, task);
      } else if (!s.order.deadlock_told && !outside) {
        come(Outside::kStands, task);
      }
    }
    s.order.lock.unlock();
  }
  add_to_schedule(s, task, 0xff);
  return static_cast<int>(task.order.wait_result);
}

void ByNumber::rejoin(Task& task) {
  Shared& s = shared();
  if (!replays()) {
    SpinGuard guard(s.order.lock);
    come(Outside::kReturns, task);
  }
  sleep_until(task, has_turn);
}

uint32_t wake(uint64_t key, uint32_t count, uint32_t bits) {
  Shared& s = shared();
  SpinGuard guard(s.order.lock);
  uint32_t woken = 0;
  while (woken < count) {
    Task* first = nullptr;
    for (TaskId i = 0; i < s.order.high_task; i++) {
      Task& task = s.tasks[i];
      if (task.order.state == TaskState::kBlocked && task.order.wait_key == key &&
          (task.order.wait_bits & bits) &&
          (!first || task.order.wait_sequence < first->order.wait_sequence)) {
        first = &task;
      }
    }
    if (!first) break;
    finish_wait(*first, 0);
    if (g_counts_phases) floor::wake_task(self(), *first);
    woken++;
  }
  if (woken) self().turn.wakes++;
  return woken;
}

uint32_t requeue(uint64_t from, uint64_t to, uint32_t count) {
  Shared& s = shared();
  SpinGuard guard(s.order.lock);
  uint32_t moved = 0;
  for (TaskId i = 0; i < s.order.high_task && moved < count; i++) {
    Task& task = s.tasks[i];
    if (task.order.state == TaskState::kBlocked && task.order.wait_key == from) {
      task.order.wait_key = to;
      moved++;
    }
  }
  return moved;
}

uint32_t waiters(uint64_t key) {
  Shared& s = shared();
  // The instructions of who asks may be counted (interpose/sync/condition.cc), and those of a lock
  // depend on time. Under token no queue changes while it has the turn.
  const bool locks = !current().traits().is_still_in_turn || s.order.turn != self().id;
  if (locks) s.order.lock.lock();
  uint32_t count = 0;
  for (TaskId i = 0; i < s.order.high_task; i++) {
    if (s.tasks[i].order.state == TaskState::kBlocked && s.tasks[i].order.wait_key == key) count++;
  }
  if (locks) s.order.lock.unlock();
  return count;
}

bool wake_task(Task& task, int result) {
  Shared& s = shared();
  SpinGuard guard(s.order.lock);
  if (task.order.state != TaskState::kBlocked) return false;
  finish_wait(task, result);
  current().kick(s);
  return true;
}

bool is_waited_for(const Task& task) {
  const Shared& s = shared();
  for (TaskId i = 0; i < s.order.high_task; i++) {
    const TaskState state = s.tasks[i].order.state;
    // Who is outside may come back at any moment, but a recording does not say in which stretch of
    // program code.
    if (state == TaskState::kOutside && !external_log().recording && !replays()) continue;
    if (&s.tasks[i] != &task && state != TaskState::kFree && state != TaskState::kBlocked)
      return true;
  }
  return false;
}

void note_signal(Task& task) { wake_task(task, EINTR); }

}  // namespace weir::order
