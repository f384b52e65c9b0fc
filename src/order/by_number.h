// What Rounds and Ring share: the place of a task in the order of turns follows from its number,
// and deadlines pass in an order that all tasks agree on.
// Implemented in rounds.cc and waiting.cc.
#pragma once

#include "order/internal.h"
#include "order/order.h"

namespace weir::order {

class ByNumber : public Order {
 public:
  explicit constexpr ByNumber(const Traits& traits) : Order(traits) {}

  uint64_t now() final {
    return traits().is_exact ? shared().order.virtual_now : sys::monotonic_ns();
  }
  void take_turn(Task& task, EventKind kind) final;
  void note_further(const Task& task, EventKind kind) final;
  void pass_turn(Task& task, TaskState next) final;
  int wait_blocked(Task& task) final;
  void rejoin(Task& task) final;

 protected:
  ~ByNumber() = default;

  // The task has become kArrived; it may be the last one.
  virtual void arrived(Shared&) {}
  // The task's turn is over, and its state is `next`: finds the task that has the turn now.
  virtual void hand_on(Shared&, Task&, TaskState /*next*/) {}
};

inline constexpr Traits kExactByNumber{.coalesces_turns = true,
                                       .is_exact = true,
                                       .asks_overdue = true,
                                       .first_probe = kFirstProbeNs,
                                       .next_sample = kNextSampleNs};

}  // namespace weir::order
