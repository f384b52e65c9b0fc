// The waist put together: an event asks the View to find what was written, the Order for the turn,
// the View to publish.
//
// What a turn is held for, and the one function that gives it away: sync/turn.h.
//
// Invariants
// 1. Between the first begin_turn() and the last end_turn() of a task nobody else publishes, so
//    nested events touch the task's own mapping, which is current, and what they wrote is published
//    at the last end_turn(). (checked in publish)
// 2. A task has no private copy of a page while others may publish, that is from pass_turn() until
//    it runs again. A copy made in its turn (by the kernel for a read, say) would miss what later
//    turns of the same round publish to the same page, and its diff against the page as it is then
//    would take that back. So what a turn wrote through the task's own mapping is published before
//    the turn is passed on; program code that goes on with the turn always counts as having written
//    (weir_on_site), also where no event of its own follows before something else ends the turn.
//    (checked in release_turn)
// 3. A task whose critical section keeps the turn runs program code with turn.depth 1; its own
//    mapping holds what it wrote there. Any event but the section's own mutexes first releases the
//    turn, so no section can keep it while it waits for another task, by whatever means. (checked
//    in release_turn)

#include "sync/event.h"

#include <errno.h>

#include "base/bytes.h"
#include "base/coherent_features.h"
#include "base/frame.h"
#include "base/hash.h"
#include "control/control.h"
#include "control/in_place_process.h"
#include "control/phase_timer.h"
#include "control/process.h"
#include "control/signals.h"
#include "heap/heap.h"
#include "memory/backing.h"
#include "order/admission.h"
#include "order/delay.h"
#include "order/waiting.h"
#include "record/input.h"
#include "record/shared_memory.h"
#include "record/stop_point.h"
#include "sync/biased_lock.h"
#include "sync/coalesce.h"
#include "sync/fast_path.h"
#include "sync/turn.h"
#include "sync/turn_rules.h"
#include "sys/futex.h"
#include "sys/report.h"
#include "view/isolated/isolated.h"
#include "view/view.h"

namespace weir {

namespace {

// The runtime works on the task's own mapping, as in a nested event.
constexpr uint32_t kAheadDepth = 2;
// Events in a turn that is kept: one that waits for another task by them must not keep it.
constexpr uint32_t kMaxHeldEvents = 100;

// Where the backing shows the byte, however deep the task is in events: at the beginning of a turn
// it holds everything.
void* in_backing(uint64_t address) {
  return reinterpret_cast<void*>(has_monitor() ? page::shared_view_of(address) : address);
}

}  // namespace

namespace {

// What a task does on its way into the world or out of it.
bool is_part_of_life(EventKind kind) {
  return kind == EventKind::kAtomic || kind == EventKind::kMemory || kind == EventKind::kHeap ||
         kind == EventKind::kCreate || kind == EventKind::kExit;
}

// What needs no process of the task's own, as long as it does not wait.
bool goes_on_in_gap(EventKind kind) {
  return kind == EventKind::kAtomic || kind == EventKind::kMutex || kind == EventKind::kCondition ||
         kind == EventKind::kSemaphore || kind == EventKind::kRwlock ||
         kind == EventKind::kSyscall || kind == EventKind::kHeap || kind == EventKind::kBarrier ||
         kind == EventKind::kFutex;
}

// Program code runs with a turn that was kept: whether an event of this kind ends that.
bool ends_kept_turn(Task& task, EventKind kind) {
  switch (task.turn.state) {
    case TurnState::kNone:
    case TurnState::kHolding:
    case TurnState::kCreating:
    case TurnState::kSectionEvent:
    case TurnState::kProgram: return false;
    case TurnState::kSection:
    case TurnState::kGapSection:
    case TurnState::kHoldForCreate: return true;
    case TurnState::kGap:
    case TurnState::kGapSectionEvent:
      if (kind == EventKind::kSpin) {
        note_long_gap(task);
        shared().order.waits_by_looking = 1;
      }
      return !goes_on_in_gap(kind);
    case TurnState::kHoldForJoin:
    case TurnState::kHoldForEnd:
    case TurnState::kHoldForRetry:
      return !(is_part_of_life(kind) || kind == EventKind::kFutex) ||
             ++task.turn.coalesced_events > kMaxHeldEvents;
  }
  return false;
}

// What a task does after an event: the same place in the page of the stack and the same object mean
// the same place of the program, in whichever thread. A spin is found at no place in particular.
uint64_t key_of(const Task& task, EventKind kind) {
  if (!task.frame || kind == EventKind::kSpin) return 0;
  const uint64_t place = (task.frame->rsp & (kPageSize - 1)) << 8 | static_cast<uint64_t>(kind);
  return (mix(place) ^ task.frame->rsi) * 0xBF58476D1CE4E5B9 >> 8;
}

// The task stands at an event, with turn.depth counted already.
void enter(Task& task, EventKind kind) {
  WEIR_DEBUG_CHECK(!task.point.object);  // invariant 2 of object_order.h
  task.turn.coalesced_events = 0;
  task.spent.counters.events++;
  enter_phase(task, Phase::kWaiting);
  inject_delay(task);
  const bool is_back = trap::mask_after_handlers(task);
  view::current().find_writes(task);
  {
    const shared_memory::SleepScope sleeps(task);
    order::current().take_turn(task, kind);
    if (task.recorded.at_point) trap::log_point(task);
  }
  WEIR_DEBUG_CHECK(shared().order.turn == task.id);  // invariant 3 of turn.h
  fast_path().on_turn(task);
  if (is_back) trap::raise_program_signals(~task.signals.mask);
  turn_rules().note_written_pages(task);
  if (coalesces_turns()) {
    task.order.interval_key = key_of(task, kind);
    order::predict_interval(task);
  }
  enter_phase(task, Phase::kTurn);
  task.spent.counters.serial_cycles -= sys::cycles();
  turn_rules().share(task, kind);
  heap_exchange(task.heap, in_backing);
  view::current().refresh();
  if (task.pages.holds_call && shared_memory::g_active)
    input::hold_memory(task);  // others may have taken some meanwhile
}

}  // namespace

uint64_t TurnRules::time() { return order::current().now(); }
uint64_t event_time() { return turn_rules().time(); }

bool coalesces_turns() { return order::current().traits().coalesces_turns; }
bool has_short_turns() { return order::current().traits().has_short_turns; }
bool tasks_active() { return g_tasks_active; }

void* shared_view(uint64_t address) {
  return reinterpret_cast<void*>(g_tasks_active ? turn_rules().shared_view(address) : address);
}

void note_failure() {
  Task& task = self();
  // Successes in between count little: std::lock takes one mutex, fails at the next and begins
  // again.
  constexpr uint32_t kWeight = 8, kMinFailures = 3 * kWeight, kMax = 12 * kWeight;
  if (is_in_gap(task)) task.turn.coalesced_events = kMaxCoalesced;
  if (task.locks.failures < kMax) task.locks.failures += kWeight;
  if (task.locks.failures <= kMinFailures || task.turn.depth != 1) return;
  const uint32_t excess = (task.locks.failures - kMinFailures) / kWeight;
  const uint32_t width = excess < 5 ? excess : 5;
  uint64_t x = mix(task.identity.creation + 1) + task.spent.counters.events * 0xBF58476D1CE4E5B9;
  x ^= x >> 31;
  const uint64_t rounds = (x * 0x94D049BB133111EB >> 40) & ((uint64_t{1} << width) - 1);
  if (rounds) block(0, 0, rounds * order::kQuantumNs, "another task");
}

void note_success() {
  Task& task = self();
  if (task.locks.failures) task.locks.failures--;
}

void section_begins(uint64_t lock) { turn_rules().section_begins(self(), lock); }

BeforeLock comes_to_lock(uint64_t lock) { return turn_rules().comes_to_lock(self(), lock); }
void section_ends() { turn_rules().section_ends(self()); }

void note_written() { self().flags |= kWritten; }

void begin_turn(EventKind kind) {
  Task& task = self();
  if (ends_kept_turn(task, kind)) release_turn(task, ReleaseReason::kOtherEvent);
  if (task.turn.depth) {
    if (!is_part_of_life(kind)) need_turn();
    if (runtime::g_is_in_place_process && !goes_on_in_gap(kind)) leave_in_place_process();
    if (is_in_gap(task) && task.turn.depth == 1) {
      task.spent.counters.events++;
      task.turn.coalesced_events++;
      task.turn.looks_for_spin = 0;
      task.order.overdue_since = 0;
      task.order.place_wanted = 0;
      note_short_gap(task);
      order::current().note_further(task, kind);
    } else if (task.turn.depth == 1) {
      turn_rules().begin_event(task, kind);
    }
    task.turn.depth++;
    task.flags |= kWritten;
    return;
  }
  set_turn_state(task, TurnState::kNone, TurnState::kHolding);
  task.turn.depth = 1;
  enter(task, kind);
}

void TurnRules::begin_create(Task& task) {
  if (task.turn.state == TurnState::kHoldForCreate) {
    set_turn_state(task, TurnState::kHoldForCreate, TurnState::kHolding);
    return;
  }
  if (task.turn.state == TurnState::kGap && task.turn.depth == 1)
    release_turn(task, ReleaseReason::kOtherEvent);
  if (task.turn.depth || !order::current().go_ahead(task)) {
    begin_turn(EventKind::kCreate);
    return;
  }
  set_turn_state(task, TurnState::kNone, TurnState::kCreating);
  task.turn.depth = kAheadDepth;
}

void TurnRules::end_create(Task& task) {
  if (task.turn.state == TurnState::kCreating) {
    set_turn_state(task, TurnState::kCreating, TurnState::kNone);
    task.turn.depth = 0;
    task.flags &= ~kWritten;
    task.turn.sole_operations = 0;
    runtime::apply_mappings(task);
    trap::take_inbox(task);
  } else if (may_hold(task, TurnState::kHoldForCreate)) {
    after_create(task);
  } else {
    end_turn();
  }
}

void TurnRules::after_create(Task& task) {
  if (coalesces_turns()) hold_turn(TurnState::kHoldForCreate);
  else release_turn(task, ReleaseReason::kEventIsOver);
}

void begin_create() { turn_rules().begin_create(self()); }
void end_create() { turn_rules().end_create(self()); }

void need_turn() {
  Task& task = self();
  if (task.turn.state != TurnState::kCreating) return;
  set_turn_state(task, TurnState::kCreating, TurnState::kHolding);
  task.turn.depth -= kAheadDepth - 1;
  enter(task, EventKind::kCreate);
  task.flags |= kWritten;
}

void hold_turn(TurnState kept_for) {
  Task& task = self();
  if (turn_rules().may_hold(task, kept_for)) {
    set_turn_state(task, TurnState::kHolding, kept_for);
    task.turn.coalesced_events = 0;
  } else {
    end_turn();
  }
}

bool TurnRules::may_hold(const Task& task, TurnState) {
  return task.turn.state == TurnState::kHolding && task.turn.depth == 1;
}

void TurnRules::end_event(Task& task, bool) { release_turn(task, ReleaseReason::kEventIsOver); }

void end_turn() {
  Task& task = self();
  WEIR_CHECK(task.turn.depth > 0);  // invariant 2 of turn.h
  const bool is_nested = task.turn.depth > 1;
  if (is_nested && (--task.turn.depth > 1 || !has_turn_between_events(task))) return;
  turn_rules().end_event(task, is_nested);
}

void leave_in_place_process() {
  tasks::return_to_own();
  go_on();
  note_written();
}

void go_on() {
  Task& task = self();
  if (!plan().has_processes()) return;
  runtime::apply_mappings(task);
  page::dump_used();
  if (!runtime::g_is_in_place_process) view::current().refresh();
}

void see_change(uint64_t address) {
  if (!runtime::g_is_in_place_process) view::current().refresh_page(address);
}

void publish_and_go_on() {
  publish_now(self());
  go_on();
}

}  // namespace weir
