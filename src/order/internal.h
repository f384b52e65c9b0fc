// Within order/: what turns and waits have in common. All under OrderState::lock where nothing else
// is said.
// Implemented in external_log.cc, rounds.cc and waiting.cc.
#pragma once

#include "base/hash.h"
#include "control/control.h"
#include "order/external_log.h"
#include "order/order.h"
#include "order/probe.h"

namespace weir::order {

// Task::flags: it sleeps until the earliest deadline, for all.
inline constexpr uint32_t kWatchesIdle = 1u << 8;

// A serial phase begins with the first task that has arrived, if there is one.
void start_serial(Shared& s);
// The first task from `from` on that has arrived; null: none.
Task* next_arrived(Shared& s, TaskId from);
// Its sleep is soon over: it is called some turns ahead, since getting up takes longer than most
// turns.
void call(Task& task);
// The task has the turn.
void grant(Shared& s, Task& task);
// No task is active. Finds one to sleep until the earliest deadline; with none, and none outside,
// it is a deadlock.
void watch_idle(Shared& s);
// The task takes part from here on. REQUIRES: OrderState::lock.
void count_in(Shared& s, Task& task, TaskState state);
// The task comes to an event: what others have noted of its being late is over.
void forget_lateness(Task& task);
// A blocked task waits no more.
void finish_wait(Task& task, int result);
// Ends the waits whose time has passed, and those that look at memory that has changed.
void expire(Shared& s);
// Time jumps to the earliest deadline.
void jump(Shared& s);

// Sleeps until `done` holds of the task; asks late tasks meanwhile what they do. Without
// OrderState::lock.
void sleep_until(Task& task, bool (*done)(const Task& task));
inline bool has_turn(const Task& task) {
  return __atomic_load_n(&shared().order.turn, __ATOMIC_ACQUIRE) == task.id;
}

// A waiter looks in bursts: there is always somebody whose last event was long enough ago to be
// looked at.
inline uint64_t again_soon(uint64_t soon, uint64_t& looks) {
  if (soon && looks++ < kSamplesPerProbe) return soon;
  looks = 0;
  return 0;
}

// `what`: an EventKind; 255: a wait was over.
inline void add_to_schedule(Shared& s, const Task& task, uint64_t what) {
  s.order.schedule_hash = mix(s.order.schedule_hash ^ (uint64_t{task.id} << 8 | what));
}

inline bool is_idle(const Shared& s) {
  return !s.order.serial && s.order.running == 0 && s.order.turn == kNoTask;
}

// Before a decision: what has come from outside by then counts from here on.
void decide(Shared& s);
// After anything that may have left nobody active: then what comes from outside counts at once.
void advance(Shared& s);
// Something comes from outside now.
void come(Outside kind, Task& task);

}  // namespace weir::order
