// What all Orders share: the queues of tasks that wait, and what a user sees of tasks that wait in
// vain.
// Implemented in arrival.cc, deadlock_report.cc, probe.cc, rounds.cc and waiting.cc.
#pragma once

#include <stdint.h>

#include "order/order.h"

namespace weir::order {

// Replaying turns by arrival: returns when so many have been, and the next, which is the caller's,
// has not begun. False: it never will.
bool await_turns(uint64_t turns);
uint32_t wake(uint64_t key, uint32_t count, uint32_t bits);
uint32_t requeue(uint64_t from, uint64_t to, uint32_t count);
uint32_t waiters(uint64_t key);
// Wakes one particular blocked task with `result`.
bool wake_task(Task& task, int result);
// Asked at the end of each serial phase about tasks that wait with spin_reads set: true wakes the
// task.
void set_watch(bool (*sees_change)(const Task& task));

// Another task waits for the end of this one's turn.
bool is_waited_for(const Task& task);

// From a signal handler: `task` sleeps at an event and has a signal to take.
void note_signal(Task& task);
// From the monitor, every kTickNs: where no round has passed, the running tasks are asked what they
// do. Tasks that all spin on each other's stores have nobody else to ask them.
void tick();
inline constexpr uint64_t kTickNs = 50'000'000;

// Who waits has waited on. Where the program ends by it (TaskIdentity::exiting), tasks that have
// computed for long meanwhile are to stand aside. `since`: when it first asked in this wait, 0
// before.
void lose_patience(const Task& waiter, uint64_t& since);

// Prints who waits for whom.
void report_waits();
// No task can go on, nor can a handler of a signal make one. Asked once instead of report_waits();
// false: it is printed after all. Null: nobody is asked.
void set_on_deadlock(bool (*reports)());
// Tells of it. Called once, without locks.
void tell_standstill();
bool may_be_signalled(const Shared& s);  // the program has a handler
// Prints that a task has run for `seconds` without an event.
void report_stall(const Task& task, uint64_t seconds);

}  // namespace weir::order
