// The Order of a run: which task may be at an event, and when. Callers tell it where a task stands;
// it acts on no program memory. An Order that overrides nothing lets every task pass at once, which
// is right for a program that runs as it is.
//
// The run has one, chosen by the Plan (runtime/orders.cc) before the second task begins: Rounds
// (order/rounds.h), Ring (order/ring.h) or Arrival (order/arrival.h). What all of them share, the
// queues of tasks that wait, is in order/waiting.h.
//
// Every function is called on the runtime's stack.
// Implemented in order.cc and rounds.cc.
#pragma once

#include "control/control.h"
#include "control/event.h"
#include "sys/futex.h"

namespace weir::order {

inline constexpr uint64_t kQuantumNs = 20'000;  // virtual nanoseconds that a round takes
inline constexpr uint64_t kForEver = ~uint64_t{0};

// order.cc: names who waits for whom, for Orders under which the program stands from then on.
void tell_standing(Shared& s);

// What follows from an Order for those who ask often.
struct Traits {
  // A turn may be kept while program code runs: where it ends follows from turns.
  bool coalesces_turns = false;
  // Turns are short: no program code runs within one.
  bool has_short_turns = false;
  // What a task does follows from the order of turns: one that is overdue may not be preempted just
  // anywhere.
  bool is_exact = false;
  // While a task has the turn no other one begins or ends a wait.
  bool is_still_in_turn = false;
  // Program code, too, runs with the turn only, and is counted (order/serial/serial.h).
  bool is_serial = false;
  // Tasks that are overdue are asked what they do (order/probe.h): when for the first time, and how
  // soon again within a burst. Nanoseconds.
  bool asks_overdue = false;
  uint64_t first_probe = 0, next_sample = 0;
  // They are in the way of tasks that wait for their pages. A task that waits for anything else
  // asks late.
  bool asks_for_pages = false;
};

class Order {
 public:
  constexpr Order() = default;
  explicit constexpr Order(const Traits& traits) : traits_(traits) {}
  Order(const Order&) = delete;
  Order& operator=(const Order&) = delete;
  const Traits& traits() const { return traits_; }

  // The time that deadlines are counted in. Nanoseconds.
  virtual uint64_t now() { return sys::monotonic_ns(); }

  // --- turns

  // The task stands at an event; returns when it has the turn.
  virtual void take_turn(Task&, EventKind) {}
  // In a turn that is kept: another event of the task's.
  virtual void note_further(const Task&, EventKind) {}
  // Passes the turn on. The state is kServed (the task goes on with the next round), kBlocked,
  // kOutside or kFree (it has ended).
  virtual void pass_turn(Task&, TaskState) {}
  // After pass_turn(kServed): returns when the task may run.
  virtual void wait_to_run(Task&) {}
  // After pass_turn(kBlocked): returns with the turn. Returns 0, ETIMEDOUT or EINTR.
  virtual int wait_blocked(Task&) { return 0; }
  // After pass_turn(kOutside) and the wait in the kernel: returns with the turn.
  virtual void rejoin(Task&) {}

  // --- tasks begin

  // The first task, before any other exists: called by order::start().
  virtual void start(Task&) {}
  // The current task, which has the turn, has made the task: it runs when the turns are over.
  virtual void add_task(Task&) {}
  // A task that has no turn may make another while others run: true for one task of a parallel
  // phase at most, the same in every run. From then on what it does is published before any other
  // task has a turn.
  [[nodiscard]] virtual bool go_ahead(const Task&) { return false; }
  // It has made the task, which runs at once.
  virtual void add_running(Task&) {}

  // --- questions

  // The task goes on after its turn: true if no other task runs meanwhile, except that one may
  // return from the kernel.
  virtual bool is_alone(const Task&) { return false; }
  // Within a turn: waits until no other task is in program code, but no longer than so many
  // nanoseconds. False: some are.
  virtual bool stand_still(Task&, uint64_t /*patience*/) { return true; }
  // Tasks that need a processor now.
  virtual uint32_t busy_tasks(const Shared&) { return 1; }

  // --- REQUIRES: OrderState::lock

  // A task has become kArrived while perhaps no task is active.
  virtual void kick(Shared&) {}
  // No task can go on, ever: it is told once, now.
  virtual void stand(Shared& s) { tell_standing(s); }
  // No task runs, or has the turn.
  virtual bool is_idle(const Shared& s) { return s.order.turn == kNoTask; }

 protected:
  // Not virtual: Orders are never deleted, and a virtual one would need operator delete.
  ~Order() = default;

 private:
  const Traits traits_{};
};

// The first task, before any other exists.
void start(Task& task);

// The run's Order. One that lets all pass until use() is called.
extern Order* g_order;
inline Order& current() { return *g_order; }
inline void use(Order& order) { g_order = &order; }

}  // namespace weir::order
