// Invariants
// 1. Only the task that has the turn is in the cache, and it has one budget: what was executed is
//    counted each time that it comes in. (checked in count_executed)
// 2. Program code that cannot be translated runs uncounted until the next event, with the turn: it
//    is switched at events only. (not checkable: it is about code that is not there)
// 3. An instruction that is several steps is made part by part, where the turn may go away between
//    two of them (parted.h). If its last part is the processor's, its first steps were counted
//    already: turn.counted is 1 more than they are. (checked in count_executed)

#include "sync/rules/serial_code.h"

#include "check/serial/races.h"
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
#include "sync/rules/parted.h"
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
  const uint64_t executed = translate::executed();
  const uint64_t already = task.turn.counted - uint64_t{1};
  WEIR_DEBUG_CHECK(already < translate::kMaxWeight);  // invariant 3 of serial_code.cc
  task.turn.counted = 0;
  // A signal may have come before the instruction was over.
  order::serial::note_steps(task, executed > already ? executed - already : 0);
  translate::stop_counting();
}

// How far the task may go.
struct Budget {
  uint64_t steps = 0;
  unsigned already = 0;     // of the first instruction: steps that were counted, and are in `steps`
  bool is_checked = false;  // what it touches has been looked at: races are looked for
};

// The next instruction is `weight` steps, and fewer are left. Returns true if it is over; else it
// is the processor's, and so many of its steps have been counted (`already`).
bool part(Task& task, Frame& frame, unsigned weight, bool is_kept, unsigned& already) {
  // Its store is not delayed, so that those before it cannot be.
  if (stores::is_on()) stores::drain(task, stores::Cause::kCode, frame.rip);
  const Frame before = frame;
  Parted parted(frame);
  if (is_kept && parted.is_store()) order::serial::keep_step(task, before, false, true);
  while (order::serial::steps_to_go(task) < weight - already) {
    const auto steps = static_cast<unsigned>(order::serial::steps_to_go(task));
    if (steps == 0) {
      order::serial::pass_point(task,
                                !parted.is_parted() ? order::Reason::kStep
                                : parted.is_store() ? order::Reason::kParted
                                                    : order::Reason::kWithin,
                                frame.rip);
      continue;
    }
    already += steps;
    parted.come_to(already);
    order::serial::note_steps(task, steps);
  }
  if (is_kept) order::serial::keep_step(task, before, false, true);
  if (!parted.finish(task.pending != 0)) return false;
  order::serial::note_steps(task, weight - already);
  return true;
}

// How many steps the task is to be given where it stands, at least what the next instruction
// counts; before that, it waits for the turn if it has none left.
Budget budget_from(Task& task, Frame& frame) {
  using translate::kMaxWeight;
  frame.shown = frame.rip;
  Budget budget;
  const auto given = [&](uint64_t steps) {
    budget.steps = steps;
    budget.is_checked = races::is_on() && !races::runs_unseen(frame.rip);
    if (budget.is_checked) races::look(task, frame);
    return budget;
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
    given(0);
    if (part(task, frame, weight, is_kept, budget.already)) {
      budget.already = 0;
      continue;
    }
    budget.steps = weight;
    return budget;
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
  Budget budget;
  bool has_stopped = false;
  for (;;) {
    budget = budget_from(task, frame);
    if (!stores::is_on() || budget.already) break;  // what is half made goes on
    const Delaying how = go_out_delaying(task, frame, budget.steps, has_stopped);
    if (how == Delaying::kLeaves) return;
    if (how == Delaying::kGoesOn) break;
  }
  const bool is_one = budget.is_checked || (budget.already && stores::is_on());
  const uint64_t at = is_one ? translate::enter_single(task, frame.rip, budget.steps)
                             : translate::enter_exactly(task, frame.rip, budget.steps);
  if (at) {
    frame.rip = at;
    task.turn.counted = 1 + budget.already;
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
