// Order by arrival. Turns are short: no program code runs within one, and when others come in
// between is chance, so a recording has what follows from it. Where Views give pages on demand, a
// task gives in its turn what others have asked for.

#include "base/coherent_features.h"
#include "control/control.h"
#include "control/process.h"
#include "control/signals.h"
#include "memory/backing.h"
#include "order/order.h"
#include "record/input.h"
#include "sync/event.h"
#include "sync/turn_rules.h"
#include "view/coherent/coherent.h"
#include "view/view.h"

namespace weir {
namespace {

// Without release on demand: at an event of the program's the task gives up all that
// it has.
bool gives_all(EventKind kind) {
  return !uses(Optimization::kDemand) && kind != EventKind::kFault && kind != EventKind::kSpin;
}

// A run of page faults goes on over calls that do not wait, until it has lasted long
// enough for those who wait.
bool keeps_run(Task& task, EventKind kind) {
  if (kind == EventKind::kFault) return true;
  if (kind != EventKind::kSyscall && kind != EventKind::kHeap) return false;
  if (!view::coherent::is_in_run(task) || !uses(Optimization::kSlices)) return false;
  if (!view::coherent::is_asked(task) || task.pages.holds_call) return true;
  return !input::log_if(input::What::kHeldLong,
                        [&] { return view::coherent::has_deferred_long(task); });
}

// When others get what the task holds on to depends on the clock, so a recording
// has it. A task that was stopped, or spins, gives what it was asked for: one that sleeps in a spin
// must have the pages that it looks at, until they are taken from it.
void end_hold_if_over(Task& task, EventKind kind) {
  if (!view::coherent::holds_on(task) || task.pages.holds_call) return;
  if (kind == EventKind::kFault && view::coherent::is_in_run(task)) return;
  if (kind == EventKind::kSpin) {
    view::coherent::end_hold(task, false);
  } else if (view::coherent::is_asked(task) && input::log_if(input::What::kHeldLong, [&] {
               return view::coherent::has_held_long(task);
             })) {
    view::coherent::end_hold(task, true);
  }
}

class ArrivalTurn : public TurnRules {
 public:
  // A creation's steps are events each.
  void begin_create(Task&) override {}
  void end_create(Task&) override {}
  uint64_t time() override {
    return static_cast<uint64_t>(
        input::log_value(input::What::kTime, [] { return order::current().now(); }));
  }
  bool may_hold(const Task& task, TurnState kept_for) override {
    return kept_for == TurnState::kHoldForRetry && TurnRules::may_hold(task, kept_for);
  }
  // Afterwards others may act at any moment: what follows from turns is decided before.
  void before_pass(Task& task) override {
    view::current().grant_requests_unless_deferred(task);
    trap::take_inbox(task);
    task.turn.sole_operations = shared().order.live == 1 ? kSoleForGood : 0;
  }
  void after_pass(Task&) override { go_on(); }
};
constinit ArrivalTurn g_arrival_turn;

class PagedTurn : public ArrivalTurn {
 public:
  void share(Task& task, EventKind kind) override {
    if (!keeps_run(task, kind)) view::coherent::end_run(task);
    end_hold_if_over(task, kind);
    task.pages.granted_pages =
        !task.pages.holds_call && view::current().grant_requests_unless_deferred(task);
    runtime::apply_mappings(task);
    if (gives_all(kind)) {
      view::current().release_all(task);
      if (task.pages.holds_call) input::hold_memory(task);
    }
  }
  uint64_t shared_view(uint64_t address) override { return page::shared_view_of(address); }
  void wait_in_spin(Task& task) override { wait_in_spin_of_process(task); }
};
constinit PagedTurn g_paged_turn;

class CoherentTurn final : public PagedTurn {
 public:
  // A task that makes calls that are no events, in a loop, is asked for pages, too.
  void meet_requests(Task& task) override;
  BeforeLock comes_to_lock(Task& task, uint64_t lock) override {
    if (task.turn.depth != 1) return BeforeLock::kTakes;
    if (view::coherent::is_section_awaited(task, lock)) return BeforeLock::kStandsBack;
    return view::coherent::await_section(task, lock) ? BeforeLock::kHasWaited : BeforeLock::kTakes;
  }
  void section_begins(Task& task, uint64_t lock) override {
    view::coherent::enter_section(task, lock);
  }
  void section_ends(Task& task) override { view::coherent::leave_section(task); }
  // A page that it reads must be taken from it before anybody writes to it.
  void wait_in_spin(Task& task) override {
    if (spins_on_foreign_memory(task)) return wait_in_spin_of_process(task);
    if (task.pages.granted_pages) return;  // as was done when its turn began
    task.pages.spins_on_pages = 1;
    block(kSpinnerKey + task.id, ~0u, 0, "spinning on memory");
    task.pages.spins_on_pages = 0;
  }
};
constinit CoherentTurn g_coherent_turn;

void CoherentTurn::meet_requests(Task& task) {
  if (task.turn.depth || task.identity.in_vfork || task.fast_lock_section) return;
  const auto is_to_give = [&] {
    if (!view::coherent::is_asked(task)) return false;
    if (view::coherent::is_in_run(task) && uses(Optimization::kSlices))
      return view::coherent::has_deferred_long(task);
    return !view::coherent::holds_on(task) || view::coherent::has_held_long(task);
  };
  if (!input::log_if(input::What::kAskedForPages, is_to_give)) return;
  begin_turn(EventKind::kOther);
  end_turn();
}

}  // namespace

TurnRules& arrival_rules() { return g_arrival_turn; }
TurnRules& paged_rules() { return g_paged_turn; }
TurnRules& coherent_rules() { return g_coherent_turn; }

}  // namespace weir
