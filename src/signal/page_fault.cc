#include "signal/page_fault.h"

#include "code/patch/doubt.h"
#include "code/sites/site_table.h"
#include "control/control.h"
#include "control/process.h"
#include "record/input.h"
#include "record/shared_memory.h"
#include "record/stop_point.h"
#include "signal/signals.h"
#include "signal/spin_probe.h"
#include "sys/signal.h"
#include "view/coherent/coherent.h"

namespace weir::trap {

namespace {

// Nothing is recorded, and the task stands between two instructions of the program's.
bool may_be_entered(const Task& task, const ucontext_t& context) {
  StubPlace place;
  return !input::is_on() && is_task() && !task.turn.depth && !task.fast_lock_section &&
         !find_stub_place(static_cast<uint64_t>(context.uc_mcontext.gregs[REG_RIP]), place);
}

}  // namespace

bool meet_page(Task& task, uint64_t address, ucontext_t& context, bool is_shared_memory) {
  constexpr greg_t kWrite = 2;
  if (!is_shared_memory && !view::coherent::is_ours(address)) return false;
  const bool writes = context.uc_mcontext.gregs[REG_ERR] & kWrite;
  if (task.spin.stepping && !task.pages.peeks) end_stepping(task, context);
  const uint32_t in_runtime = task.in_runtime;
  task.in_runtime = 1;
  const bool is_met = !is_shared_memory || shared_memory::on_fault(task, address, writes);
  if (!is_shared_memory) view::coherent::on_fault(task, address, writes);
  task.in_runtime = in_runtime;
  if (!is_met) return false;
  if (in_runtime || on_signal_stack(task, context)) return true;
  if (input::replaying()) {
    task.pending = 0;
    auto& rip = context.uc_mcontext.gregs[REG_RIP];
    rip = static_cast<greg_t>(seek_point(task, static_cast<uint64_t>(rip)));
  }
  if (!task.pending) return true;
  if (input::recording()) {
    stop_at_point(task, context, true);  // it has come with the event, or meanwhile
  } else if (!is_shared_memory && may_be_entered(task, context)) {
    enter_where_it_stands(task, context);  // a loop without calls comes to no other event
  }
  return true;
}

bool meet_page(Task& task, uint64_t address, ucontext_t& context) {
  return meet_page(task, address, context, false);
}

bool meet_closed(Task& task, uint64_t address, ucontext_t& context) {
  constexpr greg_t kFetch = 16;
  auto& gregs = context.uc_mcontext.gregs;
  if (plan().is_isolated() && (gregs[REG_ERR] & kFetch)) {
    const doubt::Fetch fetch = doubt::on_fetch(address, g_tasks_active);
    if (fetch == doubt::Fetch::kWalk) gregs[REG_EFL] |= static_cast<greg_t>(sys::kTrapFlag);
    if (fetch != doubt::Fetch::kOther) return true;
  }
  return meet_made_code(address, context) ||
         (shared_memory::g_active && meet_page(task, address, context, true));
}

}  // namespace weir::trap
