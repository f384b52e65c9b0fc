// A turn is given away.

#include "sync/turn.h"

#include "control/control.h"
#include "control/in_place_process.h"
#include "control/phase_timer.h"
#include "control/process.h"
#include "control/signals.h"
#include "order/waiting.h"
#include "record/shared_memory.h"
#include "sync/event.h"
#include "sync/turn_rules.h"
#include "view/isolated/isolated.h"
#include "view/view.h"

namespace weir {

namespace {

// Operations (tens of nanoseconds each) that a task alone may make between turns; time stands still
// meanwhile, and who comes back from the kernel waits: about as long as order/'s quantum.
constexpr uint32_t kMaxSoleOperations = 1000;

// The task has no turn from here on. Nobody else has it yet.
void forget_turn(Task& task) {
  // Invariant 4 of turn.h.
  WEIR_DEBUG_CHECK((task.turn.held > 0) ==
                   turn::is_any(task, turn::kInSection | turn::kInSectionEvent));
  if (task.turn.held) {
    task.turn.held = 0;
    task.turn.broken_section = task.turn.section;
  }
  set_turn_state(task, task.turn.state, TurnState::kNone);
  task.turn.depth = 0;
  task.turn.last_coalesced = task.turn.coalesced_events > task.turn.last_coalesced * 3 / 4
                                 ? task.turn.coalesced_events
                                 : task.turn.last_coalesced * 3 / 4;
  task.turn.looks_for_spin = 0;
}

void pass_turn_and_wait(Task& task) {
  const shared_memory::SleepScope sleeps(task);
  order::current().pass_turn(task, TaskState::kServed);
  tasks::return_to_own();
  order::current().wait_to_run(task);
}

}  // namespace

void publish_now(Task& task) {
  if (runtime::g_is_in_place_process) return;
  view::current().find_writes(task);
  view::current().publish(task);
}

void TurnRules::after_pass(Task& task) {
  task.turn.sole_operations = !order::current().is_alone(task) ? 0
                              : shared().order.live == 1       ? kSoleForGood
                                                               : kMaxSoleOperations;
  go_on();
  trap::take_inbox(task);
}

void release_turn(Task& task, ReleaseReason why) {
  if (!turn::is_any(task, turn::ended_by(why))) {
    WEIR_CHECK(why > ReleaseReason::kTaskEnds);
    return;
  }
  // Invariant 2 of turn.h, 3 of event.cc.
  WEIR_CHECK(task.turn.depth == 1);
  WEIR_DEBUG_CHECK(shared().order.turn == task.id);  // invariant 3 of turn.h
  forget_turn(task);
  if (why == ReleaseReason::kTaskEnds) {
    order::current().pass_turn(task, TaskState::kFree);
    return;
  }
  if (task.flags & kWritten) {
    task.flags &= ~kWritten;
    publish_now(task);
  }
  // Invariant 2 of event.cc.
  WEIR_DEBUG_CHECK(!plan().is_isolated() || runtime::g_is_in_place_process ||
                   view::isolated::has_only_residents(task));
  turn_rules().before_pass(task);
  task.spent.counters.serial_cycles += sys::cycles();
  enter_phase(task, Phase::kResuming);
  pass_turn_and_wait(task);
  turn_rules().after_pass(task);
  enter_phase(task, Phase::kProgram);
}

}  // namespace weir
