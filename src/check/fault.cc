// A task comes to a page that it has not, at the checked View: which bytes the instruction touches,
// whether that may be an atomic operation, and how the instruction is made where the page stays
// closed.
//
// Invariant: between the look at an instruction's accesses and its execution no program code of
// this task runs, signal handlers included. (checked in on_checked_fault)

#include "check/fault.h"

#include "check/core/check.h"
#include "check/instruction_accesses.h"
#include "code/emulate/emulate_x86_64.h"
#include "code/patch/bound_jump.h"
#include "control/control.h"
#include "control/signals.h"
#include "memory/backing.h"
#include "memory/demand.h"
#include "sys/report.h"
#include "sys/signal.h"

namespace weir::trap {

namespace {

namespace checked = view::checked;

// Per process.
checked::Access g_accesses[InstructionAccesses::kMax];  // of the single step
uint32_t g_access_count;
uint64_t g_mask;
[[maybe_unused]] uint64_t g_step_at;  // the instruction that is being stepped
uint32_t g_ignored_steps;             // in a row
constexpr uint32_t kMaxIgnoredSteps = 64;

// One that is not made step by step: where it goes on it may touch any of them, and would lose the
// one for the other.
void borrow_all(Task& task, uint64_t address, const checked::Access* accesses, uint32_t count) {
  checked::borrow(task, address, false);
  for (uint32_t i = 0; i < count; i++) {
    const uint64_t ends[] = {accesses[i].address, accesses[i].address + accesses[i].size - 1};
    for (const uint64_t at : ends) {
      if (page_down(at) != page_down(address) && checked::is_ours(at))
        checked::borrow(task, at, false);
    }
  }
}

// Calls of other libraries read the page of small variables, for which nobody has to look at it.
bool passes_slot(uint64_t address, ucontext_t& context) {
  auto& rip = context.uc_mcontext.gregs[REG_RIP];
  const uint64_t page = page_down(address);
  if (address % 8 || !may_be_bound_jump(static_cast<uint64_t>(rip))) return false;
  const uint64_t alias = page::shared_view_of(page);
  if (alias == page) return false;
  page::demand::fill_backing(page, kPageSize);
  const uint64_t entry =
      move_bound_jump(static_cast<uint64_t>(rip), address, alias + address % kPageSize);
  if (entry) rip = static_cast<greg_t>(entry);
  return entry != 0;
}

bool on_checked_fault(Task& task, uint64_t address, ucontext_t& context) {
  if (!checked::is_ours(address)) return false;
  if (is_in_runtime(task, context)) {
    checked::borrow(task, address, true);
    return true;
  }
  if (passes_slot(address, context)) return true;
  auto& gregs = context.uc_mcontext.gregs;
  const uint32_t in_runtime = task.in_runtime;
  task.in_runtime = 1;
  InstructionAccesses accesses;
  list_accesses(task, context, address, Extent::kWhole, accesses);
  // Invariant of check/fault.cc.
  WEIR_DEBUG_CHECK(!checked::is_stepping() || accesses.site.rip == g_step_at);
  g_step_at = accesses.site.rip;
  const Instruction* instruction = accesses.instruction;
  const bool has_all =
      checked::on_fault(task, accesses.site, address, accesses.access, accesses.count);
  if (!has_all) {
    const bool is_ignored = checked::is_ignored(accesses.site.rip);
    if (!is_ignored) {
      g_ignored_steps = 0;
      checked::delay_access(task, accesses.site, accesses.access, accesses.count);
    }
    const bool is_repeated = instruction && instruction->repeat == Repeat::kCounted;
    if (accesses.is_listed &&
        (is_repeated ? emulate_repeated(context)
                     : accesses.count == 1 &&
                           emulate(context, accesses.access[0].address, accesses.access[0].size))) {
      if (!is_ignored) checked::acquire_read(task, accesses.access, accesses.count);
    } else if ((is_ignored && ++g_ignored_steps > kMaxIgnoredSteps) ||
               (instruction && (instruction->repeat != Repeat::kNone || instruction->is_syscall)) ||
               accesses.count >= InstructionAccesses::kMax) {
      borrow_all(task, address, accesses.access, accesses.count);
    } else {
      hold_signals(context, g_mask, checked::is_stepping());
      for (uint32_t i = 0; i < accesses.count; i++) g_accesses[i] = accesses.access[i];
      // What the C library reads tells the program nothing.
      g_access_count = is_ignored ? 0 : accesses.count;
      checked::begin_step(task, accesses.access, accesses.count);
      gregs[REG_EFL] |= static_cast<greg_t>(sys::kTrapFlag);
    }
  }
  task.in_runtime = in_runtime;
  return true;
}

bool end_checked_step(Task& task, ucontext_t& context) {
  if (!checked::is_stepping()) return false;
  context.uc_mcontext.gregs[REG_EFL] &= ~static_cast<greg_t>(sys::kTrapFlag);
  let_signals_in(context, g_mask);
  checked::end_step(task);
  checked::acquire_read(task, g_accesses, g_access_count);
  return true;
}

}  // namespace

bool on_checked_signal(Task& task, int signal, const siginfo_t& info, ucontext_t& context) {
  const auto address = reinterpret_cast<uint64_t>(info.si_addr);
  if (page::demand::is_fault(signal, info, context) && on_checked_fault(task, address, context))
    return true;
  return signal == SIGTRAP && end_checked_step(task, context);
}

}  // namespace weir::trap
