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

class Arrival final : public Order {
 public:
  // `is_order_only`: tasks share one memory. When they read it is not known, only between which
  // events; and a task that spins is in no other's way. `has_pages`: tasks wait for pages that
  // others have.
  explicit constexpr Arrival(bool is_order_only, bool has_pages)
      : Order({.has_short_turns = true,
               .is_exact = true,
               .asks_overdue = !is_order_only,
               .first_probe = is_order_only ? kFirstProbeNs : kFirstProbeForPageNs,
               .next_sample = kNextSampleForPageNs,
               .asks_for_pages = has_pages}),
        is_order_only_(is_order_only) {}

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

 private:
  // The task wants the turn from now on. `what`: EventKind, 0 after a wait.
  void arrive(Shared& s, Task& task, uint32_t what);

  const bool is_order_only_;
};

}  // namespace weir::order
