// Turns by arrival: who comes first has the turn first, and who had it is written down; or,
// replaying, as it was written down.
//
// The order of turns is the only thing about order that a recording needs: what a task does between
// two turns follows from memory, and what it finds in memory from turns (View direct: where the
// program is race-free; View coherent: always).
#pragma once

#include "order/internal.h"
#include "order/order.h"

namespace weir::order {

class ByArrival : public Order {
 public:
  void take_turn(Task& task, EventKind kind) override;
  void pass_turn(Task& task, TaskState next) override;
  int wait_blocked(Task& task) override;
  void rejoin(Task& task) override;
  void start(Task& task) override;
  void add_task(Task& task) override;
  bool is_alone(const Task& task) override;
  bool stand_still(Task& task, uint64_t patience) override;
  uint32_t busy_tasks(const Shared& s) override;
  void kick(Shared& s) override;

 protected:
  explicit constexpr ByArrival(const Traits& traits) : Order(traits) {}
  ~ByArrival() = default;

  // The task wants the turn from now on. `what`: EventKind, 0 after a wait.
  void arrive(Shared& s, Task& task, uint32_t what);
  // The task has come to an event: it arrives there. With the lock of turns.
  void come(Shared& s, Task& task, EventKind kind);
  // It waits for the turn that it wants.
  void await_turn(Task& task, EventKind kind);
  // The task has the turn no more. Returns the task that is to be woken, or null. With the lock.
  [[nodiscard]] Task* hand_on(Shared& s, Task& task, TaskState next);
};

// Each task sees memory of its own. `has_pages`: tasks wait for pages that others have.
class Arrival final : public ByArrival {
 public:
  explicit constexpr Arrival(bool has_pages)
      : ByArrival({.has_short_turns = true,
                   .is_exact = true,
                   .asks_overdue = true,
                   .first_probe = kFirstProbeForPageNs,
                   .next_sample = kNextSampleForPageNs,
                   .asks_for_pages = has_pages}) {}
};

// Tasks share one memory. When they read it is not known, only between which events; and a task
// that spins is in no other's way.
class ArrivalInOneMemory final : public ByArrival {
 public:
  constexpr ArrivalInOneMemory()
      : ByArrival({.has_short_turns = true,
                   .is_exact = true,
                   .first_probe = kFirstProbeNs,
                   .next_sample = kNextSampleForPageNs}) {}
  // Who comes while others have the turn is noted.
  void take_turn(Task& task, EventKind kind) override;
  // The next one is woken before the lock is free.
  void pass_turn(Task& task, TaskState next) override;
};

}  // namespace weir::order
