// A task touches what its register does not open. The rule book decides. If the access is legal,
// the task goes on, with the register that it must have by now. If it is not, it has been reported,
// and is executed once, with all keys.
//
// The register of the interrupted code lies in the signal's frame, and is changed there.
//
// Invariants
// 1. A handler of Weir's opens all keys for itself before it touches anything but its own stack:
//    the keys that are open at its beginning are those of the runtime's memory only. (checked in
//    judge)
// 2. What leaves for program code has ThreadState's register (enforce_by_key.cc): a frame of
// program
//    code, or the program's handler. (not checkable: the register may be old until the next event)
// 3. A frame with all keys open is the runtime's, a handler's or a step's, and stays so; there are
//    no others. (checked in on_key_fault)
// 4. The program's handlers return by weir_key_sigreturn: what they have locked and unlocked holds
//    for the code that they have interrupted. (not checkable: the kernel is told of that return
//    address, and of no other)
// 5. During a step no handler of the program runs. Page protections that the step lifts are lifted
//    for all threads, for its one instruction. (checked in on_key_fault)

#include "check/keys/key_fault.h"

#include "base/bytes.h"
#include "check/core/happens_before.h"
#include "check/core/rights.h"
#include "check/instruction_accesses.h"
#include "code/decode/decoder.h"
#include "control/control.h"
#include "control/signals.h"
#include "memory/backing.h"
#include "sys/pkey_x86_64.h"
#include "sys/report.h"
#include "sys/signal.h"
#include "sys/syscall_x86_64.h"

namespace weir::trap {

namespace {

namespace checked = view::checked;
namespace keys = view::checked::keys;

constexpr int kByProtection = 2, kByKey = 4;  // SEGV_ACCERR, SEGV_PKUERR
constexpr uint32_t kMaxTries = 1000;

// Of each task.
struct Step {
  uint64_t mask;
  bool is_on;
  uint64_t rip, address;  // where it trapped last
  uint32_t tries;         // so often in a row
};
Step g_steps[kMaxTasks];

void begin_step(Task& task, Step& step, ucontext_t& context, const checked::Access* accesses,
                uint32_t count) {
  hold_signals(context, step.mask, step.is_on);
  step.is_on = true;
  for (uint32_t i = 0; i < count; i++) keys::borrow(task, accesses[i].address, accesses[i].size);
  sys::KeyRightsInFrame(context).set(sys::kAllKeysOpen);
  context.uc_mcontext.gregs[REG_EFL] |= static_cast<greg_t>(sys::kTrapFlag);
}

void end_step(Task& task, Step& step, ucontext_t& context) {
  step.is_on = false;
  context.uc_mcontext.gregs[REG_EFL] &= ~static_cast<greg_t>(sys::kTrapFlag);
  let_signals_in(context, step.mask);
  keys::take_back(task);
  sys::KeyRightsInFrame(context).set(keys::rights_of(task));
}

// In the runtime: it goes on with all keys, until it is left.
bool meet_in_runtime(Task& task, uint64_t address, int code, ucontext_t& context) {
  keys::open(task);
  sys::KeyRightsInFrame frame(context);
  const bool had_all = frame.get() == sys::kAllKeysOpen;
  frame.set(sys::kAllKeysOpen);
  if (code != kByKey) return keys::borrow(task, address, 1);
  happens::note_closed(address);
  return !had_all;
}

}  // namespace

bool has_keys() { return keys::g_taken; }

namespace {

bool on_key_fault(Task& task, const siginfo_t& info, ucontext_t& context) {
  const int code = info.si_code;
  if (code != kByKey && code != kByProtection) return false;
  const auto address = reinterpret_cast<uint64_t>(info.si_addr);
  if (is_in_runtime(task, context)) return meet_in_runtime(task, address, code, context);
  Step& step = g_steps[task.id];
  const auto rip = static_cast<uint64_t>(context.uc_mcontext.gregs[REG_RIP]);
  WEIR_DEBUG_CHECK(!step.is_on || step.rip == rip);  // invariant 5 of key_fault.cc
  // Invariant 3 of key_fault.cc.
  WEIR_DEBUG_CHECK(step.is_on || sys::KeyRightsInFrame(context).get() != sys::kAllKeysOpen);
  const bool is_again = step.rip == rip && step.address == address;
  step.tries = is_again ? step.tries + 1 : 0;
  step.rip = rip;
  step.address = address;
  const uint32_t in_runtime = task.in_runtime;
  task.in_runtime = 1;
  Instruction instruction{};
  const bool is_known = decode(rip, instruction);
  InstructionAccesses list;
  list_accesses_of(is_known ? &instruction : nullptr, task, context, address, Extent::kWhole, list);
  const checked::AccessSite& site = list.site;
  checked::Access* const accesses = list.access;
  const uint32_t count = list.count;
  bool any = false, once = false;
  for (uint32_t i = 0; i < count; i++) {
    const keys::Judged met = keys::judge(task, site, accesses[i]);
    any |= met != keys::Judged::kNobodys;
    once |= met == keys::Judged::kOnce;
  }
  if (once && page::own_image().contains(rip)) happens::note_closed(address);
  // What goes on here was met after a change by another task; or, by protection, the program has
  // closed it itself.
  const bool is_stuck = step.tries >= kMaxTries;
  bool is_met = true;
  if (once) begin_step(task, step, context, accesses, count);
  else if (code == kByProtection && (!any || is_stuck)) is_met = false;
  else if (is_stuck)
    begin_step(task, step, context, accesses, count);  // nothing is declared where a key was left
  else sys::KeyRightsInFrame(context).set(step.is_on ? sys::kAllKeysOpen : keys::rights_of(task));
  if (!is_met && step.is_on) end_step(task, step, context);
  task.in_runtime = in_runtime;
  return is_met;
}

bool end_key_step(Task& task, ucontext_t& context) {
  Step& step = g_steps[task.id];
  if (!step.is_on) return false;
  step.tries = 0;
  end_step(task, step, context);
  return true;
}

void stand_for_rehash(Task& task, ucontext_t& context) {
  task.signals.met_own = 1;
  keys::stand_if_asked(task, !in_runtime(task, context) && !on_signal_stack(task, context));
  sys::KeyRightsInFrame frame(context);
  if (frame.get() != sys::kAllKeysOpen) frame.set(keys::rights_of(task));
}

}  // namespace

bool on_key_signal(Task& task, int signal, const siginfo_t& info, ucontext_t& context) {
  if (signal == SIGSEGV && info.si_code > 0) return on_key_fault(task, info, context);
  if (signal == SIGTRAP) return end_key_step(task, context);
  if (signal != sys::g_probe_signal || info.si_code != SI_TKILL) return false;
  stand_for_rehash(task, context);
  return true;
}

}  // namespace weir::trap

extern "C" __attribute__((visibility("hidden"))) void weir_on_key_sigreturn(ucontext_t* context) {
  using namespace weir;
  const bool is_checked = view::checked::keys::g_on && !self().identity.in_vfork;
  sys::KeyRightsInFrame(*context).set(is_checked ? view::checked::keys::rights_of(self())
                                                 : sys::kAllKeysOpen);
}
