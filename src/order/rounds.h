// The turn: who may be at an event now. One mechanism behind the Orders free and token.
// Implemented in arrival.cc, deadlock_report.cc, probe.cc, rounds.cc and waiting.cc.
//
// Fenced (the View publishes in place): a round is a parallel phase, in which every active task
// runs until it arrives at an event, and a serial phase, in which the arrived tasks have the turn
// one after another, by task number. Unfenced (View direct): the turn walks round the active tasks;
// who is not at an event when it comes holds the others up. Both are deterministic: the place of
// every event in the order of turns depends on no clock (Dthreads, its section on the token; the
// evaluation section is in the project's papers).
#pragma once

#include <stdint.h>

#include "control/event.h"

namespace weir::order {

inline constexpr uint64_t kQuantum = 20'000;  // virtual nanoseconds that a round takes

struct Config {
  bool fenced = false;
  bool deterministic = false;  // token
  // Record and replay: who comes first, or as it was recorded (order/arrival.cc)
  bool by_arrival = false;
  bool order_only = false;  // by arrival, and tasks share one memory: when they read it is not
                            // known, only between which events
  // What a task does follows from the order of turns: one that is late may not be preempted just
  // anywhere.
  bool exact() const { return deterministic || by_arrival; }
  uint32_t processors = 1;
};
void configure(const Config& config);
const Config& config();

// The time that deadlines are counted in: virtual under token, the clock's under free. Nanoseconds.
uint64_t now();

// The task stands at an event; returns when it has the turn.
// Replaying turns by arrival: returns when so many have been, and the next, which is the caller's,
// has not begun. False: it never will.
bool await_turns(uint64_t turns);
void take_turn(Task& task, EventKind kind);
// In a turn that is kept: another event of the task's.
void note_further(const Task& task, EventKind kind);
// Gives the turn on. `next` is kServed (goes on with the next round), kBlocked, kOutside or kFree
// (ended).
void pass_turn(Task& task, TaskState next);
// After pass_turn(kServed): returns when the task may run.
void wait_to_run(Task& task);
// After pass_turn(kBlocked): returns with the turn. Answers 0, ETIMEDOUT or EINTR.
int wait_blocked(Task& task);
// After pass_turn(kOutside) and the wait in the kernel: returns with the turn.
void rejoin(Task& task);
// The current task, which holds the turn, has made `task`: it runs when the serial phase ends.
void add_task(Task& task);
// A task that has no turn may make another while others run: true for one task of a parallel phase
// at most, the same in every run. From then on what it does is published before anybody else has a
// turn.
[[nodiscard]] bool go_ahead(const Task& task);
// It has made `task`, which runs at once.
void add_running(Task& task);
// The first task, before any other exists.
void start(Task& task);

uint32_t wake(uint64_t key, uint32_t count, uint32_t bits);
uint32_t requeue(uint64_t from, uint64_t to, uint32_t count);
uint32_t waiters(uint64_t key);
// Wakes one particular blocked task with `result`.
bool wake_task(Task& task, int result);

// Asked at the end of each serial phase about tasks that wait with spin_reads set: true wakes the
// task.
void set_watch(bool (*sees_change)(const Task& task));

// By arrival, within a turn: waits until no other task is in program code, but no longer than
// `patience_ns`. False: some are.
bool stand_still(Task& task, uint64_t patience_ns = ~uint64_t{0});
// Another task waits for the end of this one's turn.
bool is_waited_for(const Task& task);
// The task goes on after its turn: true where no other task runs meanwhile, except that one may
// return from the kernel.
bool alone(const Task& task);

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
// Prints that a task has run for `seconds` without an event.
void report_stall(const Task& task, uint64_t seconds);

}  // namespace weir::order
