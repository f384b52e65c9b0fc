// Ring: memory is one (View direct), so no phases are needed. The turn walks round the active
// tasks; a task that is not at an event when the turn comes holds the others up. The position of
// every event in the order of turns depends on no clock.
#pragma once

#include "order/by_number.h"

namespace weir::order {

class Ring final : public ByNumber {
 public:
  constexpr Ring() : ByNumber(kExactByNumber) {}

  void start(Task& task) override;
  void add_task(Task& task) override;
  bool is_alone(const Task& task) override;
  void kick(Shared& s) override;

 private:
  void arrived(Shared& s) override;
  void hand_on(Shared& s, Task& task, TaskState next) override;
};

}  // namespace weir::order
