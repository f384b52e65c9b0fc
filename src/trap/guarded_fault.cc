// A task comes to a page that it has not, at View guarded: which bytes the instruction touches, whether that may be an atomic operation, and
// how the instruction is made where the page stays closed.
//
// Invariant: between the look at an instruction's accesses and its execution no program code of this task runs, signal handlers included.

#include "base/bytes.h"
#include "decode/decoder.h"
#include "sys/report.h"
#include "sys/signal.h"
#include "sys/syscall_x86_64.h"
#include "task/shared.h"
#include "trace/findings.h"
#include "trap/emulate_x86_64.h"
#include "trap/page_fault.h"
#include "trap/signals.h"
#include "view/guarded.h"

namespace weir::trap {

namespace {

namespace guarded = view::guarded;

constexpr uint32_t kMostTouches = Instruction::kMaxOperands;

// Per process.
struct Known {
  uint64_t rip;
  Instruction instruction;
};
Known g_known[1024];
guarded::Touch g_touches[kMostTouches];  // of the single step
uint32_t g_touch_count;
uint64_t g_mask;
uint32_t g_ignored_steps;  // in a row
constexpr uint32_t kMostIgnoredSteps = 64;

const Instruction* decoded(uint64_t rip) {
  Known& known = g_known[(rip ^ rip >> 10) % 1024];
  if (known.rip == rip) return &known.instruction;
  known.rip = 0;
  known.instruction = Instruction{};
  if (!decode(rip, known.instruction)) return nullptr;
  known.rip = rip;
  return &known.instruction;
}

// What compilers make of atomic loads and stores is what they make of others: one move of a machine word. Whatever cannot be one is none.
bool may_be_atomic(const Instruction& instruction, const Access& access) {
  const uint64_t size = access.size;
  if (instruction.repeat != Repeat::kNone || instruction.is_string || instruction.is_branch || (access.read && access.written)) return false;
  return (size == 1 || size == 2 || size == 4 || size == 8) && access.address % size == 0;
}

uint32_t kind_of(const Instruction& instruction, const Access& access) {
  uint32_t kind = (access.read ? findings::kRead : 0u) | (access.written ? findings::kWrite : 0u);
  if (instruction.is_locked) kind |= findings::kAtomic;
  else if (may_be_atomic(instruction, access)) kind |= findings::kMayBeAtomic;
  return kind;
}

// No signal may come between: but for those of faults, which the instruction may make.
void hold_signals(ucontext_t& context) {
  if (!guarded::is_stepping()) copy_bytes(&g_mask, &context.uc_sigmask, sizeof g_mask);  // else it came to another page
  const uint64_t all = sys::kAllButFaults & ~sys::signal_bit(SIGTRAP);
  copy_bytes(&context.uc_sigmask, &all, sizeof all);
}

void let_signals_in(ucontext_t& context) { copy_bytes(&context.uc_sigmask, &g_mask, sizeof g_mask); }

bool is_in_runtime(const Task& task, const ucontext_t& context) {
  return task.in_runtime || task.in_vfork || on_signal_stack(task, context) || on_runtime_stack(task, static_cast<uint64_t>(context.uc_mcontext.gregs[REG_RSP]));
}

}  // namespace

bool meet_guarded(Task& task, uint64_t address, ucontext_t& context) {
  constexpr greg_t kWrite = 2;
  if (!guarded::is_ours(address)) return false;
  if (is_in_runtime(task, context)) {
    guarded::lend(task, address, true);
    return true;
  }
  auto& gregs = context.uc_mcontext.gregs;
  const auto rip = static_cast<uint64_t>(gregs[REG_RIP]);
  const uint32_t in_runtime = task.in_runtime;
  task.in_runtime = 1;
  const Registers registers = registers_of_gregs(gregs);
  guarded::Spot spot{};
  for (unsigned i = 0; i < 16; i++) spot.general[i] = registers.general[i];
  spot.rip = rip;
  const Instruction* instruction = decoded(rip);
  AccessList list;
  if (instruction) list = accesses_of(*instruction, registers, sys::fs_base_untouched(), reinterpret_cast<uint64_t>(&task), Extent::kWhole);
  guarded::Touch touches[kMostTouches + 1];
  uint32_t count = 0;
  bool is_listed = false;
  for (size_t i = 0; i < list.count; i++) {
    const Access& access = list.accesses[i];
    if (!access.size || (!access.exact && access.size > kPageSize)) continue;
    is_listed |= page_down(address) >= page_down(access.address) && address < access.address + access.size;
    touches[count++] = {access.address, access.size, access.exact ? kind_of(*instruction, access) : access.written ? uint32_t{guarded::kUnknownWrite} : 0u};
  }
  // What the operands do not describe (a gather, a state that is saved): the page is met, and the bytes are not known.
  if (!is_listed) touches[count++] = {address, 1, gregs[REG_ERR] & kWrite ? uint32_t{guarded::kUnknownWrite} : 0u};
  const bool has_all = guarded::on_fault(task, spot, address, touches, count);
  if (!has_all) {
    const bool is_ignored = guarded::is_ignored(rip);
    if (!is_ignored) g_ignored_steps = 0;
    if (is_listed && count == 1 && emulate(context, touches[0].address, touches[0].size)) {
      guarded::learn(task, touches, count);
    } else if ((is_ignored && ++g_ignored_steps > kMostIgnoredSteps) || (instruction && (instruction->repeat != Repeat::kNone || instruction->is_syscall)) || count > kMostTouches) {
      guarded::lend(task, address, false);
    } else {
      hold_signals(context);
      for (uint32_t i = 0; i < count; i++) g_touches[i] = touches[i];
      g_touch_count = count;
      guarded::begin_step(task, touches, count);
      gregs[REG_EFL] |= static_cast<greg_t>(sys::kTrapFlag);
    }
  }
  task.in_runtime = in_runtime;
  return true;
}

bool end_guarded_step(Task& task, ucontext_t& context) {
  if (!guarded::is_stepping()) { report("trap without step at %x task %u", static_cast<uint64_t>(context.uc_mcontext.gregs[REG_RIP]), uint64_t{task.id}); return false; }
  context.uc_mcontext.gregs[REG_EFL] &= ~static_cast<greg_t>(sys::kTrapFlag);
  let_signals_in(context);
  guarded::end_step(task);
  guarded::learn(task, g_touches, g_touch_count);
  return true;
}

}  // namespace weir::trap
