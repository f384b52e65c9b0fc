// Invariants
// 1. Only the task that has the turn is in the cache, and it has one budget: what was executed is
//    counted each time that it comes in. (checked in come_in)
// 2. Program code that cannot be translated runs uncounted until the next event, with the turn: it
//    is switched at events only. (not checkable: it is about code that is not there)

#include "sync/serial_code.h"

#include "code/translate/counted.h"
#include "control/control.h"
#include "control/phase_timer.h"
#include "control/process.h"
#include "order/serial/serial.h"
#include "sync/event.h"
#include "sync/turn.h"
#include "sys/report.h"

namespace weir::serial {

namespace {

bool is_in_program_turn(const Task& task) {
  return task.turn.state == TurnState::kGap && task.turn.depth == 1;
}

// The task has made all the steps that it was given. If the next instruction is one, the turn may
// go to another task before it.
bool stop_if_counted(Task& task, const Frame& frame) {
  if (!translate::is_counted_at(frame.rip)) return false;
  order::serial::pass_point(task, order::Reason::kStep, frame.rip);
  return true;
}

}  // namespace

void come_in(Task& task) {
  if (!task.turn.counted) return;
  WEIR_DEBUG_CHECK(shared().order.turn == task.id);  // invariant 1 of serial_code.cc
  task.turn.counted = 0;
  order::serial::note_steps(task, translate::executed());
  translate::stop_counting();
}

void on_counted(Task& task, Frame& frame, bool is_exhausted) {
  const bool is_over = is_exhausted && translate::left() == 0;
  come_in(task);
  if (is_over && is_in_program_turn(task)) stop_if_counted(task, frame);
}

void go_out(Task& task, Frame& frame) {
  if (!is_in_program_turn(task)) return;
  uint64_t steps = order::serial::steps_to_go(task);
  while (steps == 0 && stop_if_counted(task, frame)) steps = order::serial::steps_to_go(task);
  if (const uint64_t at = translate::enter_exactly(task, frame.rip, steps)) {
    frame.rip = at;
    task.turn.counted = 1;
  }
}

void begin(Task& task, Frame& frame) {
  set_turn_state(task, TurnState::kNone, TurnState::kHolding);
  set_turn_state(task, TurnState::kHolding, TurnState::kGap);
  task.turn.depth = 1;
  go_out(task, frame);
}

void before_event(Task& task) {
  task.spent.counters.events++;
  order::serial::pass_point(task, order::Reason::kEvent, task.frame ? task.frame->shown : 0);
}

void after_event(Task& task) {
  if (task.turn.state == TurnState::kHolding)
    set_turn_state(task, TurnState::kHolding, TurnState::kGap);
  order::serial::pass_point(task, order::Reason::kAfter, task.frame ? task.frame->shown : 0);
}

}  // namespace weir::serial
