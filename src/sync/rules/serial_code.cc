// Invariants
// 1. Only the task that has the turn is in the cache, and it has one budget: what was executed is
//    counted each time that it comes in. (checked in count_executed)
// 2. Program code that cannot be translated runs uncounted until the next event, with the turn: it
//    is switched at events only. (not checkable: it is about code that is not there)
// 3. An instruction that reads and then writes memory, and is not locked, is two steps. Where the
//    turn may go away between them, the runtime executes it: it reads, perhaps waits for the turn,
//    and writes what follows from what it has read. (not checkable: it is what Change does)

#include "sync/rules/serial_code.h"

#include "check/serial/races.h"
#include "code/sites/atomic_op.h"
#include "code/translate/counted.h"
#include "code/translate/step.h"
#include "control/control.h"
#include "control/phase_timer.h"
#include "control/process.h"
#include "memory/backing.h"
#include "memory/program_memory.h"
#include "order/serial/serial.h"
#include "order/serial/stores/store_buffer.h"
#include "sync/event.h"
#include "sync/turn.h"
#include "sys/report.h"
#include "sys/syscall_x86_64.h"

namespace weir::serial {

namespace stores = order::serial::stores;
namespace races = view::checked::serial;

namespace {

bool is_in_program_turn(const Task& task) {
  return task.turn.state == TurnState::kProgram && task.turn.depth == 1;
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
  // Its store is not delayed, so that those before it cannot be.
  if (stores::is_on()) stores::drain(task, stores::Cause::kCode, frame.rip);
  order::serial::note_steps(task, 1);
  while (order::serial::steps_to_go(task) == 0)
    order::serial::pass_point(task, order::Reason::kWithin, frame.rip);
  if (is_kept) order::serial::keep_step(task, frame, false, true);
  if (!change.write()) return false;
  order::serial::note_steps(task, 1);
  return true;
}

// How many steps the task is to be given where it stands, at least what the next instruction
// counts; before that, it waits for the turn if it has none left. What the instruction touches has
// been looked at then, if races are looked for (`is_checked`).
uint64_t steps_from(Task& task, Frame& frame, bool& is_checked) {
  using translate::kMaxWeight;
  frame.shown = frame.rip;
  const auto given = [&](uint64_t steps) {
    is_checked = races::is_on() && !races::runs_unseen(frame.rip);
    if (is_checked) races::look(task, frame);
    return steps;
  };
  for (;;) {
    order::serial::watch(task, frame);
    const bool is_watched = order::serial::looks_at_each_step(task);
    const uint64_t steps = order::serial::steps_to_go(task);
    const uint64_t until_look = order::serial::steps_to_look(task);
    const uint64_t least = steps < until_look ? steps : until_look;
    const bool is_kept = order::serial::keeps_steps();
    if (least >= kMaxWeight && !is_watched && !is_kept) return given(least);
    const unsigned weight = translate::weight_at(frame.rip);
    if (weight == 0) return given(is_watched || is_kept ? 0 : least);
    if (steps == 0) {
      order::serial::pass_point(task, order::Reason::kStep, frame.rip);
      continue;
    }
    if (is_kept) order::serial::keep_step(task, frame, true, weight <= steps);
    if (is_watched) order::serial::look_at_next_step(task, frame);
    if (weight <= steps) return given(weight);
    given(steps);
    if (!part(task, frame, is_kept)) return kMaxWeight;
  }
}

// Where the program stands: in a function of the runtime's, at its beginning, where that was
// called.
uint64_t place_of(const Frame& frame) {
  uint64_t called_from = 0;
  const bool is_called = page::own_image().contains(frame.rip) &&
                         trap::from_program(called_from, static_cast<long>(frame.rsp)) == 0;
  return is_called ? called_from : frame.rip;
}

// Stores are delayed (memory=tso).
enum class Delaying : uint8_t {
  kGoesOn,      // for `steps`, which are fewer than before if a delay begins on the way
  kLeaves,      // frame.rip is set, to one instruction
  kLooksAgain,  // the turn was another task's: `steps` is over
};
// `weight`: of the instruction at frame.rip; no more than `steps`. `has_stopped`: before it the
// turn could go to another task already.
Delaying go_out_delaying(Task& task, Frame& frame, uint64_t& steps, bool& has_stopped) {
  const unsigned weight = translate::weight_at(frame.rip);
  for (;;) {
    if (!stores::is_delaying(task)) {
      const uint64_t before = stores::steps_before(task);
      if (before > 0 && before >= weight) {
        if (before < steps) steps = before;
        return Delaying::kGoesOn;
      }
      if (!stores::begin(task, before)) return Delaying::kGoesOn;
    }
    stores::Cause cause{};
    switch (stores::look(task, frame, weight > 0, cause)) {
      case stores::Next::kOver: break;
      case stores::Next::kNothing: steps = weight; return Delaying::kGoesOn;
      case stores::Next::kSingle:
        if (const uint64_t at = translate::enter_single(task, frame.rip, steps)) {
          frame.rip = at;
          task.turn.counted = 1;
          return Delaying::kLeaves;
        }
        stores::forget_look(task);
        stores::drain(task, stores::Cause::kCode, frame.rip);
        return Delaying::kGoesOn;
      case stores::Next::kDrain:
        // Here, too, the turn may go to another task, who does not see the stores yet; but not
        // within the runtime's own functions.
        if (!has_stopped && cause != stores::Cause::kEvent &&
            order::serial::steps_to_go(task) == 0) {
          has_stopped = true;
          order::serial::pass_point(task, order::Reason::kStep, frame.rip);
          return Delaying::kLooksAgain;
        }
        stores::drain(task, cause, place_of(frame));
        break;
    }
  }
}

// The turn of the task that runs is its own from its first instruction to its end.
class Serial final : public TurnRules {
 public:
  void come_in(Task& task) override {
    order::serial::note_entry(task);
    count_executed(task);
    if (stores::is_on())
      stores::drain(task, stores::Cause::kEvent, task.frame ? task.frame->shown : 0);
  }
  void on_counted(Task& task, bool) override { count_executed(task); }
  void before_handler(Task& task, uint64_t code) override {
    if (stores::is_on()) stores::drain(task, stores::Cause::kSignal, code);
  }
  void go_out(Task& task, Frame& frame) override;
  // Waits for the turn, and has it from here on.
  void begin(Task& task, Frame& frame) override {
    set_turn_state(task, TurnState::kNone, TurnState::kHolding);
    set_turn_state(task, TurnState::kHolding, TurnState::kProgram);
    task.turn.depth = 1;
    go_out(task, frame);
  }

  void begin_event(Task& task, EventKind kind) override;
  void end_event(Task& task, bool is_nested) override;
  bool may_hold(const Task&, TurnState) override { return false; }
};
constinit Serial g_serial;

void Serial::go_out(Task& task, Frame& frame) {
  if (!is_in_program_turn(task)) return;
  uint64_t steps;
  bool has_stopped = false, is_checked = false;
  for (;;) {
    steps = steps_from(task, frame, is_checked);
    if (!stores::is_on()) break;
    const Delaying how = go_out_delaying(task, frame, steps, has_stopped);
    if (how == Delaying::kLeaves) return;
    if (how == Delaying::kGoesOn) break;
  }
  const uint64_t at = is_checked ? translate::enter_single(task, frame.rip, steps)
                                 : translate::enter_exactly(task, frame.rip, steps);
  if (at) {
    frame.rip = at;
    task.turn.counted = 1;
  } else if (races::is_on() && !translate::is_exit(frame.rip)) {
    view::checked::serial::give_up();
  }
}

void Serial::begin_event(Task& task, EventKind kind) {
  order::current().note_further(task, kind);
  task.spent.counters.events++;
  order::serial::note_event(task, kind);
  order::serial::pass_point(task, order::Reason::kEvent, task.frame ? task.frame->shown : 0);
}

void Serial::end_event(Task& task, bool) {
  if (task.turn.state == TurnState::kHolding)
    set_turn_state(task, TurnState::kHolding, TurnState::kProgram);
  order::serial::pass_point(task, order::Reason::kAfter, task.frame ? task.frame->shown : 0);
}

}  // namespace

TurnRules& rules() { return g_serial; }

void on_single(Task& task, Frame& frame) {
  const bool goes_on = translate::on_single(frame);
  frame.shown = frame.rip;
  count_executed(task);
  if (goes_on) g_serial.go_out(task, frame);
  else if (stores::is_on()) stores::drain(task, stores::Cause::kSignal, frame.rip);
}

bool stops_at_misses() { return races::is_on(); }

}  // namespace weir::serial
