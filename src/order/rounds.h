// Rounds: the View publishes in place. A round is a parallel phase, in which every active task runs
// until it arrives at an event, and a serial phase, in which the arrived tasks have the turn one
// after another, by task number.
#pragma once

#include "order/by_number.h"

namespace weir::order {

class Rounds final : public ByNumber {
 public:
  // `is_numbered`: the position of every event in the order of turns depends on no clock. Dthreads
  // has the argument, in its section on the token. Otherwise an overdue task goes on where it
  // stands, and time is the clock's.
  explicit constexpr Rounds(bool is_numbered)
      : ByNumber(is_numbered ? in_rounds(kExactByNumber)
                             : Traits{.asks_overdue = true,
                                      .first_probe = kFirstProbeNs,
                                      .next_sample = kNextSampleNs}) {}

  void wait_to_run(Task& task) override;
  void start(Task& task) override;
  void add_task(Task& task) override;
  bool go_ahead(const Task& task) override;
  void add_running(Task& task) override;
  bool is_alone(const Task& task) override;
  uint32_t busy_tasks(const Shared& s) override { return s.order.running + s.order.serial; }
  void kick(Shared& s) override;
  bool is_idle(const Shared& s) override { return !s.order.serial && s.order.running == 0; }

 private:
  static constexpr Traits in_rounds(Traits traits) {
    traits.is_still_in_turn = true;
    traits.first_probe = kFirstProbeInRoundNs;
    return traits;
  }
  void arrived(Shared& s) override;
  void hand_on(Shared& s, Task& task, TaskState next) override;
};

}  // namespace weir::order
