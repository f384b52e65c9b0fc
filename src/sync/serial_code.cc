// Invariants
// 1. Only the task that has the turn is in the cache, and it has one budget: what was executed is
//    counted each time that it comes in. (checked in come_in)
// 2. Program code that cannot be translated runs uncounted until the next event, with the turn: it
//    is switched at events only. (not checkable: it is about code that is not there)
// 3. An instruction that reads and then writes memory, and is not locked, is two steps. Where the
//    turn may go away between them, the runtime executes it: it reads, perhaps waits for the turn,
//    and writes what follows from what it has read. (not checkable: it is what Change does)

#include "sync/serial_code.h"

#include "code/sites/atomic_op.h"
#include "code/translate/counted.h"
#include "code/translate/step.h"
#include "control/control.h"
#include "control/phase_timer.h"
#include "control/process.h"
#include "memory/program_memory.h"
#include "order/serial/serial.h"
#include "sync/event.h"
#include "sync/turn.h"
#include "sys/report.h"
#include "sys/syscall_x86_64.h"

namespace weir::serial {

namespace {

bool is_in_program_turn(const Task& task) {
  return task.turn.state == TurnState::kGap && task.turn.depth == 1;
}

void count_executed(Task& task) {
  if (!task.turn.counted) return;
  WEIR_DEBUG_CHECK(shared().order.turn == task.id);  // invariant 1 of serial_code.cc
  task.turn.counted = 0;
  order::serial::note_steps(task, translate::executed());
  translate::stop_counting();
}

// The instruction at frame.rip, step by step.
class Change {
 public:
  explicit Change(Frame& frame) : frame_(frame) {}

  // False: it cannot be parted, or would fault.
  bool read() {
    if (!decode_change(reinterpret_cast<const void*>(frame_.rip), kMaxInstructionSize, frame_.rip,
                       op_))
      return false;
    address_ = static_cast<long>(atomic_address(op_, frame_, sys::fs_base()));
    return trap::from_program(&value_, address_, op_.size) == 0;
  }
  bool write() {
    Frame after = frame_;
    execute_atomic(op_, after, &value_);
    if (trap::to_program(address_, &value_, op_.size) != 0) return false;
    frame_ = after;
    frame_.rip += op_.length;
    frame_.shown = frame_.rip;
    return true;
  }

 private:
  Frame& frame_;
  AtomicOp op_;
  long address_ = 0;
  alignas(16) uint64_t value_[2] = {0, 0};
};

// One step is left, and the next instruction is two. False: it is to be executed as a whole.
bool part(Task& task, Frame& frame, bool is_kept) {
  Change change(frame);
  if (!change.read()) return false;
  order::serial::note_steps(task, 1);
  while (order::serial::steps_to_go(task) == 0)
    order::serial::pass_point(task, order::Reason::kWithin, frame.rip);
  if (is_kept) order::serial::keep_step(task, frame, false, true);
  if (!change.write()) return false;
  order::serial::note_steps(task, 1);
  return true;
}

}  // namespace

void come_in(Task& task) {
  order::serial::note_entry(task);
  count_executed(task);
}

void on_counted(Task& task) { count_executed(task); }

void go_out(Task& task, Frame& frame) {
  if (!is_in_program_turn(task)) return;
  using translate::kMaxWeight;
  frame.shown = frame.rip;
  uint64_t steps;
  for (;;) {
    order::serial::watch(task, frame);
    const bool is_watched = order::serial::looks_at_each_step(task);
    steps = order::serial::steps_to_go(task);
    const uint64_t until_look = order::serial::steps_to_look(task);
    const uint64_t least = steps < until_look ? steps : until_look;
    const bool is_kept = order::serial::keeps_steps();
    if (least >= kMaxWeight && !is_watched && !is_kept) {
      steps = least;
      break;
    }
    const unsigned weight = translate::weight_at(frame.rip);
    if (weight == 0) {
      steps = is_watched || is_kept ? 0 : least;
      break;
    }
    if (steps == 0) {
      order::serial::pass_point(task, order::Reason::kStep, frame.rip);
      continue;
    }
    if (is_kept) order::serial::keep_step(task, frame, true, weight <= steps);
    if (is_watched) order::serial::look_at_next_step(task, frame);
    if (weight <= steps) {
      steps = weight;
      break;
    }
    if (!part(task, frame, is_kept)) {
      steps = kMaxWeight;
      break;
    }
  }
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

void before_event(Task& task, EventKind kind) {
  task.spent.counters.events++;
  order::serial::note_event(task, kind);
  order::serial::pass_point(task, order::Reason::kEvent, task.frame ? task.frame->shown : 0);
}

void after_event(Task& task) {
  if (task.turn.state == TurnState::kHolding)
    set_turn_state(task, TurnState::kHolding, TurnState::kGap);
  order::serial::pass_point(task, order::Reason::kAfter, task.frame ? task.frame->shown : 0);
}

}  // namespace weir::serial
