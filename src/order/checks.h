// What rounds.cc and arrival.cc say of the counts that they keep, counted again. Only in builds
// with WEIR_DEBUG_CHECKS.
#pragma once

#include "control/control.h"
#include "order/waiting.h"
#include "sys/report.h"

namespace weir::order {

// Invariants 1 and 2 of rounds.cc, 3 and 4 of arrival.cc. REQUIRES: OrderState::lock.
inline void check_counts([[maybe_unused]] const Shared& s) {
#ifdef WEIR_DEBUG_CHECKS
  uint32_t running = 0;
  for (TaskId i = 0; i < s.order.high_task; i++)
    running += s.tasks[i].order.state == TaskState::kRunning;
  WEIR_CHECK(running == s.order.running);  // invariants 1 of rounds.cc, 4 of arrival.cc
  // Invariants 2 of rounds.cc, 3 of arrival.cc.
  WEIR_CHECK(s.order.turn == kNoTask || s.tasks[s.order.turn].order.state == TaskState::kArrived);
  WEIR_CHECK(!s.order.serial || s.order.running == 0);
#endif
}

}  // namespace weir::order
