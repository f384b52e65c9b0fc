// A deadlock that has happened: the Order has seen for seconds that every task waits for another
// one, without a time limit, and that no handler of a signal can come between. The command ends the
// program, which would stand for ever.
//
// What is shown of a task is where it entered the runtime. It does not move meanwhile.

#include "check/core/hazards.h"
#include "control/control.h"

namespace weir::hazards {

namespace {

using findings::Action;
using view::checked::state;

// The words are those with which tasks wait (order/waiting.h's block()).
Action action_of(const char* what) {
  switch (what ? what[0] : 0) {
    case 'm':
    case 'l': return Action::kLocks;
    case 'c': return Action::kSleeps;
    case 'b': return Action::kAwaits;
    case 's': return Action::kTakes;
    default: return Action::kJoins;
  }
}

}  // namespace

bool report_deadlock() {
  if (!looks_for(Hazard::kDeadlock)) return false;
  constexpr uint32_t kMost = findings::kMaxMoreSides + 2;
  SideNote sides[kMost];
  uint32_t count = 0;
  const Shared& s = shared();
  for (TaskId i = 0; i < s.order.high_task; i++) {
    const Task& task = s.tasks[i];
    if (task.order.state == TaskState::kFree) continue;
    const uint64_t at = task.order.wait_address;
    // Memory that processes share: another one may wake it.
    if (task.order.state != TaskState::kBlocked || !view::checked::is_ours(at)) return false;
    if (count == kMost) continue;
    const view::checked::ThreadState& thread = view::checked::thread_of(task);
    uint32_t context = 0;
    if (task.frame) context = view::checked::context_of(view::checked::access_site_of(*task.frame));
    sides[count++] = {at, thread.number, context, 0, action_of(task.order.wait_what), &thread};
  }
  if (!count) return false;
  report(Hazard::kDeadlock, sides, count, 0);
  return true;
}

}  // namespace weir::hazards
