// View isolated. A turn publishes what the task has written. If turns follow from turns, it is kept
// over short compute gaps, and program code is counted in it (sync/coalesce.h).

#include "base/hash.h"
#include "code/translate/counted.h"
#include "code/translate/program_text.h"
#include "control/control.h"
#include "control/in_place_process.h"
#include "control/phase_timer.h"
#include "control/process.h"
#include "control/signals.h"
#include "memory/backing.h"
#include "order/admission.h"
#include "order/waiting.h"
#include "record/input.h"
#include "record/pause.h"
#include "sync/biased_lock.h"
#include "sync/coalesce.h"
#include "sync/event.h"
#include "sync/turn_rules.h"
#include "view/view.h"

namespace weir {
namespace {

// Glibc's setxid_futex: a thread waits for this one to have started.
constexpr int32_t kAwaitedStart = -2;
// A loop that has more is not seen to come back to where it was.
constexpr uint32_t kSpinBlocks = 24;
// Times that a task would have gone to the in-place process: a process costs a millisecond.
constexpr uint32_t kWorthMaking = 12;

// What an event is called where it is asked how long the gap to the next one is.
uint64_t gap_key_of(const Task& task) {
  const Frame& frame = *task.frame;
  constexpr uint64_t kFirstNumber = 0xfffffff0;  // of sites that have no number of their own
  const uint64_t what = frame.site == kUpcall        ? frame.rdi ^ frame.rsi << 20
                        : frame.site >= kFirstNumber ? frame.site ^ frame.shown << 20
                                                     : frame.site;
  return (mix(what) ^ frame.rsp % kPageSize) * 0xBF58476D1CE4E5B9;
}

// After an event: program code goes on with the turn, as it will soon come to another one.
bool is_next_gap_short(Task& task) {
  if (!coalesces_turns() || !task.frame || input::has_signals(task) || task.inbox_count)
    return false;
  if (trap::is_in_handler(task, task.frame->rsp)) return false;
  if (is_gap_short(task, gap_key_of(task))) return true;
  task.turn.long_gap = task.turn.gap + 1;
  return false;
}

// Whether the turn is to go on in the in-place process.
bool moves_in_place(const Task& task) {
  InPlaceProcess& e = shared().in_place_process;
  const bool is_worth_it = task.turn.coalesced_events >= kWorthMoving ||
                           task.turn.last_coalesced >= kWorthMoving ||
                           shared().order.gaps[task.turn.gap].pages >= kWorthMoving;
  if (!is_worth_it || e.closed) return false;
  return e.made || (!e.tried && e.wishes++ >= kWorthMaking);
}

// Program code goes on with the turn. `publishes`: what was done in it may be neither in the
// backing nor in the task's own mapping yet. After a nested event all is in the latter, as is what
// program code wrote before: nobody looks at it until the turn is passed on.
void stay(Task& task, bool publishes) {
  if (gives_to_woken(task) || task.turn.coalesced_events >= kMaxCoalesced) {  // all others first
    task.turn.coalesced_events = 0;
    task.turn.last_coalesced = kMaxCoalesced;
    block(0, 0, 1, "the turns of all others");
    publishes = true;
  }
  const bool is_away = runtime::g_is_in_place_process;
  const bool moves = !is_away && moves_in_place(task);
  if ((is_away || moves || publishes) && (task.flags & kWritten)) {
    task.flags &= ~kWritten;
    publish_now(task);
  }
  if (!is_away && !(moves && tasks::enter_in_place_process(task))) {
    if (moves || publishes) go_on();
    note_written();
  }
  enter_phase(task, Phase::kSection);
}

void count_exhausted(Task& task) {
  if ((task.turn.state != TurnState::kGap && task.turn.state != TurnState::kGapSection) ||
      task.turn.depth != 1)
    return;
  if (task.fast_lock_section) return;  // of Weir's own code, and short
  const Frame& frame = *task.frame;
  const uint64_t state =
      hash_words(frame.rip ^ frame.rsp << 1, reinterpret_cast<const uint64_t*>(&frame), 15);
  if (!task.turn.looks_for_spin) {
    note_long_gap(task);
    task.turn.looks_for_spin = kSpinBlocks;
    task.turn.gap_state = state;
    return;
  }
  if (state == task.turn.gap_state) {
    task.turn.looks_for_spin = 0;
    shared().order.waits_by_looking = 1;
    block(0, 0, 1, "the next round: it seems to wait for another task");
    stay(task, true);
  } else if (--task.turn.looks_for_spin == 0) {
    task.turn.long_gap = task.turn.gap + 1;
    release_turn(task, ReleaseReason::kNextIsFar);
  }
}

class IsolatedTurn final : public TurnRules {
 public:
  void on_counted(Task& task, bool is_exhausted) override {
    if (is_exhausted) count_exhausted(task);
  }
  void go_out(Task& task, Frame& frame) override;
  void end_event(Task& task, bool is_nested) override;
  void note_written_pages(Task& task) override {
    order::note_interval(task, task.copies.changed_count);
    note_price(task, task.copies.changed_count);
  }
  void share(Task& task, EventKind kind) override;
  // At the beginning of a turn the backing has everything; later, the task's own mapping.
  uint64_t shared_view(uint64_t address) override {
    return self().turn.depth <= 1 ? page::shared_view_of(address) : address;
  }
  void wait_in_spin(Task& task) override { wait_in_spin_of_process(task); }
  // The new task begins when the turn is over.
  void after_create(Task& task) override { release_turn(task, ReleaseReason::kEventIsOver); }
};
constinit IsolatedTurn g_isolated_turn;

// Program code goes on within a turn that is kept as long as the compute gap is short.
void IsolatedTurn::go_out(Task& task, Frame& frame) {
  if (!is_in_gap(task) || task.turn.depth != 1 ||
      (input::has_signals(task) && !task.fast_lock_section))
    return;
  const bool is_unawaited = !order::is_waited_for(task);
  task.turn.counted = is_unawaited || task.turn.looks_for_spin || wants_count(task);
  if (is_unawaited || !task.turn.counted) return;
  if (recording::is_looked_at()) {
    translate::on_patched_text();
    if (translate::is_breakpoint(frame.rip))
      return;  // it goes on uncounted, as nothing of it could be; the turn stays as it was recorded
  }
  const uint64_t budget = task.turn.looks_for_spin ? 1 : gap_budget(task);
  if (const uint64_t at = translate::enter(task, frame.rip, budget)) {
    frame.rip = at;
  } else if (!task.fast_lock_section && !is_in_section(task)) {
    release_turn(task, ReleaseReason::kNextIsFar);
  }
}

void IsolatedTurn::share(Task& task, EventKind) {
  const uint64_t word = task.turn.start_word;
  const bool awaited =
      word && *reinterpret_cast<int32_t*>(page::shared_view_of(word)) == kAwaitedStart;
  view::current().publish(task);
  task.locks.biased_operations = 0;
  runtime::apply_mappings(task);
  wake_released(task);
  if (awaited) order::wake(word, 1, ~0u);
  task.turn.start_word = 0;
}

void IsolatedTurn::end_event(Task& task, bool is_nested) {
  if (!is_next_gap_short(task)) {
    release_turn(task, ReleaseReason::kEventIsOver);
    return;
  }
  if (!is_nested) {
    set_turn_state(task, task.turn.state, TurnState::kGap);
    task.turn.coalesced_events = 0;
  }
  stay(task, !is_nested);
}

}  // namespace

TurnRules& isolated_rules() { return g_isolated_turn; }

}  // namespace weir
